// server/http/header_list.h: cuts a header's value that is a list ("gzip;q=0.8, zstd") into parts.

#pragma once

#include <cstddef>
#include <string_view>

namespace seendb::http {

/// The text without the spaces and tabs around it.
inline std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// What is before the first `mark`, trimmed; all where there is none. `*text` is what is behind it.
inline std::string_view CutAt(char mark, std::string_view* text) {
  const size_t at = text->find(mark);
  const std::string_view before = text->substr(0, at);
  text->remove_prefix(at == std::string_view::npos ? text->size() : at + 1);
  return Trim(before);
}

}  // namespace seendb::http
