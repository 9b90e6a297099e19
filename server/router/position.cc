#include "router/position.h"

#include <algorithm>
#include <charconv>

namespace seendb::router {
namespace {

constexpr size_t kEntriesMost = 1'024;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end && *number >= 0;
}

}  // namespace

Result<Positions> ParsePosition(std::string_view header) {
  Positions positions;
  size_t entries = 0;
  while (!header.empty()) {
    const size_t comma = header.find(',');
    const std::string_view entry = Trimmed(header.substr(0, comma));
    header = comma == std::string_view::npos ? std::string_view() : header.substr(comma + 1);
    const size_t colon = entry.find(':');
    int64_t partition = 0, offset = 0;
    const bool read = colon != std::string_view::npos &&
                      ReadNumber(entry.substr(0, colon), &partition) &&
                      ReadNumber(entry.substr(colon + 1), &offset);
    if (!read || partition > UINT32_MAX) {
      return Status::InvalidArgument("must be PARTITION:OFFSET,..., as a write answered",
                                     "/SeenDB-Position");
    }
    if (++entries > kEntriesMost) {
      return Status::InvalidArgument("more than 1024 entries", "/SeenDB-Position");
    }
    int64_t& known = positions[static_cast<uint32_t>(partition)];
    known = std::max(known, offset);
  }
  return positions;
}

void NoteWritten(uint32_t partition, int64_t offset, Positions* positions) {
  int64_t& next = (*positions)[partition];
  next = std::max(next, offset + 1);
}

std::string PositionText(const Positions& positions) {
  std::string text;
  for (const auto& [partition, next] : positions) {
    if (!text.empty()) text += ',';
    text.append(std::to_string(partition)).append(":").append(std::to_string(next));
  }
  return text;
}

}  // namespace seendb::router
