#include "table.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace seendb::tool {
namespace {

size_t Width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void AppendRow(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
               const std::vector<Column>& columns, std::string* out) {
  const size_t line = out->size();
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) *out += "  ";
    const std::string padding(widths[i] - Width(cells[i]), ' ');
    *out += columns[i].align == Align::kRight ? padding + cells[i] : cells[i] + padding;
  }
  while (out->size() > line && out->back() == ' ') out->pop_back();
  *out += '\n';
}

// How many bytes at the beginning are a character that steers a terminal, turns the direction of
// what follows, or is not seen (Unicode 15: C0, C1, the separators of lines, Bidi_Control and
// others that are Default_Ignorable_Code_Point: of no width, tags, selectors): 0 to 4.
size_t ControlSize(std::string_view text) {
  const auto byte = [text](size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;  // C1
  if (byte(0) == 0xC2 && byte(1) == 0xAD) return 2;                     // U+00AD
  if (byte(0) == 0xD8 && byte(1) == 0x9C) return 2;                     // U+061C
  if (byte(0) == 0xE1) return byte(1) == 0xA0 && byte(2) >= 0x8B && byte(2) <= 0x8F ? 3 : 0;
  if (byte(0) == 0xE2) {
    const bool marks = byte(1) == 0x80 && byte(2) >= 0x8B && byte(2) <= 0x8F;     // U+200B..200F
    const bool lines = byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE;     // and embeddings
    const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA0 && byte(2) <= 0xAF;  // U+2060..206F
    return marks || lines || isolates ? 3 : 0;
  }
  if (byte(0) == 0xEF) {
    const bool mark = byte(1) == 0xBB && byte(2) == 0xBF;                         // U+FEFF
    const bool selector = byte(1) == 0xB8 && byte(2) >= 0x80 && byte(2) <= 0x8F;  // U+FE00..FE0F
    const bool notes = byte(1) == 0xBF && byte(2) >= 0xB9 && byte(2) <= 0xBB;     // U+FFF9..FFFB
    return mark || selector || notes ? 3 : 0;
  }
  return byte(0) == 0xF3 && byte(1) == 0xA0 ? 4 : 0;  // U+E0000..E0FFF: tags, selectors
}

}  // namespace

std::string Printable(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t size = ControlSize(text.substr(at));
    for (size_t i = 0; i < size; ++i) {
      const auto byte = static_cast<unsigned char>(text[at + i]);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
    if (size == 0) out += text[at];
    at += std::max<size_t>(size, 1);
  }
  return out;
}

void Table::Add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::ToString() const {
  std::vector<std::string> heads;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    heads.push_back(Upper(column.name));
    widths.push_back(Width(column.name));
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string out;
  AppendRow(heads, widths, columns_, &out);
  for (const auto& row : rows_) AppendRow(row, widths, columns_, &out);
  return out;
}

void Facts::Add(std::string name, std::string_view value) {
  lines_.emplace_back(std::move(name), Printable(value));
}

std::string Facts::ToString() const {
  size_t width = 0;
  for (const auto& [name, value] : lines_) width = std::max(width, Width(name));
  std::string out;
  for (const auto& [name, value] : lines_) {
    out += "  " + name + std::string(width - Width(name) + 2, ' ') + value + '\n';
  }
  return out;
}

}  // namespace seendb::tool
