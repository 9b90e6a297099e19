#include "api/status_http.h"

#include <algorithm>
#include <cassert>

#include "wire/status_codes.h"

namespace seendb::api {
namespace {

/// Behind these a path may begin.
constexpr std::string_view kBefore = " \"'(=:,;";
/// And with these it is over.
constexpr std::string_view kBehind = " \"'):,;";

}  // namespace

std::string WithoutFolders(std::string_view message) {
  std::string kept;
  for (size_t at = 0; at < message.size();) {
    const bool begins =
        message[at] == '/' && (at == 0 || kBefore.find(message[at - 1]) != std::string_view::npos);
    if (!begins) {
      kept.push_back(message[at++]);
      continue;
    }
    const size_t end = std::min(message.find_first_of(kBehind, at), message.size());
    const std::string_view path = message.substr(at, end - at);
    kept += path.substr(path.rfind('/') + 1);
    at = end;
  }
  return kept;
}

http::Error ToHttpError(const Status& status) {
  assert(!status.ok());
  const unsigned code = wire::HttpStatusOf(status.code());
  const std::string message(status.message());
  // Other refusals speak of what the client sent, which may look like a path.
  const bool of_server = code >= 500 || status.code() == StatusCode::kIncompatible;
  return {code, StatusCodeName(status.code()), of_server ? WithoutFolders(message) : message,
          std::string(status.field())};
}

}  // namespace seendb::api
