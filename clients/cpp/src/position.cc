#include "position.h"

#include <algorithm>
#include <charconv>

namespace seendb::client::internal {
namespace {

template <typename Number>
bool ReadWhole(std::string_view text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *number);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace

Position ReadPosition(std::string_view text) {
  Position parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    const size_t colon = part.find(':');
    uint32_t partition = 0;
    uint64_t offset = 0;
    if (colon == std::string_view::npos || !ReadWhole(part.substr(0, colon), &partition) ||
        !ReadWhole(part.substr(colon + 1), &offset)) {
      continue;
    }
    parts[partition] = std::max(parts[partition], offset);
  }
  return parts;
}

void Advance(Position* position, const Position& told) {
  for (const auto& [partition, offset] : told) {
    (*position)[partition] = std::max((*position)[partition], offset);
  }
  for (auto at = position->begin(); at != position->end() && position->size() > kPartsMost;) {
    at = told.contains(at->first) ? std::next(at) : position->erase(at);
  }
}

std::string ToText(const Position& position) {
  std::string text;
  for (const auto& [partition, offset] : position) {
    text += (text.empty() ? "" : ",") + std::to_string(partition) + ":" + std::to_string(offset);
  }
  return text;
}

}  // namespace seendb::client::internal
