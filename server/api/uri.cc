#include "api/uri.h"

#include <algorithm>

#include "base/json_pointer.h"

namespace seendb::api {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::string_view StripAuthority(std::string_view path) {
  constexpr std::string_view kScheme = "http://";
  if (path.substr(0, kScheme.size()) != kScheme) return path;
  const size_t slash = path.find('/', kScheme.size());
  return slash == std::string_view::npos ? std::string_view("/") : path.substr(slash);
}

Status ParseQuery(std::string_view query, std::vector<std::pair<std::string, std::string>>* pairs) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    const auto name = PercentDecode(part.substr(0, equals));
    const auto value = PercentDecode(equals == std::string_view::npos ? std::string_view()
                                                                      : part.substr(equals + 1));
    if (!name || !value) return Status::InvalidArgument("malformed escape in the query");
    if (part.find('+') != std::string_view::npos) {
      return Status::InvalidArgument("a + in a query may be meant as a blank: write %20, or %2B",
                                     PointerTo(*name));
    }
    const bool repeated = std::any_of(pairs->begin(), pairs->end(),
                                      [&](const auto& pair) { return pair.first == *name; });
    if (repeated) return Status::InvalidArgument("repeated query parameter", PointerTo(*name));
    pairs->emplace_back(*name, *value);
  }
  return Status::Ok();
}

}  // namespace seendb::api
