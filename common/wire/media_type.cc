#include "wire/media_type.h"

#include <string>

namespace seendb::wire {
namespace {

std::string LowerTrimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  const size_t end = text.find_last_not_of(" \t");
  std::string lower(text.substr(begin, end - begin + 1));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// False for a parameter that makes the body something we do not read.
bool Understood(std::string_view parameter) {
  const std::string text = LowerTrimmed(parameter);
  if (text.rfind("charset=", 0) != 0) return true;
  const std::string charset = text.substr(8);
  return charset == "utf-8" || charset == "\"utf-8\"" || charset == "utf8" || charset == "us-ascii";
}

}  // namespace

MediaType ParseMediaType(std::string_view header) {
  if (header.empty() || header == "application/json") return MediaType::kJson;
  std::string_view rest = header;
  const size_t semicolon = rest.find(';');
  const std::string type = LowerTrimmed(rest.substr(0, semicolon));
  while (rest.find(';') != std::string_view::npos) {
    rest.remove_prefix(rest.find(';') + 1);
    if (!Understood(rest.substr(0, rest.find(';')))) return MediaType::kOther;
  }
  if (type == "application/json") return MediaType::kJson;
  if (type == "application/x-ndjson" || type == "application/ndjson") return MediaType::kNdjson;
  if (type == "application/octet-stream") return MediaType::kBinary;
  return MediaType::kOther;
}

}  // namespace seendb::wire
