#include "shard/history_cursor.h"

#include "format/bytes.h"

namespace seendb {
namespace {

constexpr char kVersion = 1;
constexpr char kHexDigits[] = "0123456789abcdef";

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void PutText(std::string* out, std::string_view text) {
  PutVarint(out, text.size());
  out->append(text);
}

}  // namespace

std::string HistoryCursor::ToText() const {
  std::string bytes(1, kVersion);
  PutZigzag(&bytes, at_ms);
  PutText(&bytes, collection);
  PutText(&bytes, item);
  for (const auto& [name, count] : shown) {
    PutText(&bytes, name);
    PutVarint(&bytes, count);
  }
  Seal32(&bytes);
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text.push_back(kHexDigits[byte >> 4]);
    text.push_back(kHexDigits[byte & 15]);
  }
  return text;
}

bool HistoryCursor::FromText(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0 || text.size() < 12) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = DigitOf(text[i]), low = DigitOf(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  std::string sealed = bytes.substr(0, bytes.size() - 4);
  Seal32(&sealed);
  if (sealed != bytes || bytes[0] != kVersion) return false;
  Reader in(std::string_view(bytes).substr(1, bytes.size() - 5));
  at_ms = in.Zigzag();
  collection = in.Bytes(in.Varint());
  item = in.Bytes(in.Varint());
  while (in.ok() && in.remaining() > 0) {
    const std::string name(in.Bytes(in.Varint()));
    shown[name] = in.Varint();
  }
  return in.ok();
}

}  // namespace seendb
