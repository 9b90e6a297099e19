#include "router/answers.h"

#include <array>
#include <charconv>
#include <utility>

#include "api/filter_binary.h"

namespace seendb::router {
namespace {

constexpr std::string_view kJson = "application/json";

/// Literals, since a response borrows its type.
constexpr std::array<std::string_view, 4> kTypes = {kJson, api::kBitmapType, api::kIndexesType,
                                                    "application/x-ndjson"};

/// For metrics; what the answer says is for its reader.
std::string_view CodeOf(unsigned status) {
  switch (status) {
    case 400:
      return "invalid_argument";
    case 403:
      return "forbidden";
    case 404:
      return "not_found";
    case 409:
      return "incompatible";
    case 413:
      return "too_large";
    case 422:
      return "all_refused";
    case 503:
      return "unavailable";
    default:
      return status < 400 ? std::string_view() : "internal";
  }
}

}  // namespace

http::Response ToResponse(peers::PeerAnswer answer) {
  http::Response response;
  response.status = answer.status;
  response.error_code = CodeOf(answer.status);
  const std::string_view type = answer.Header("content-type");
  for (const std::string_view known : kTypes) {
    if (type.starts_with(known)) response.content_type = known;
  }
  for (const auto& [name, value] : answer.headers) {
    if (name.starts_with("seendb-") || name == "etag" || name == "cache-control") {
      response.headers.append("\r\n").append(name).append(": ").append(value);
    }
  }
  const std::string_view pause = answer.Header("retry-after");
  std::from_chars(pause.data(), pause.data() + pause.size(), response.retry_after_s);
  response.body = std::move(answer.body);
  return response;
}

void AddMember(std::string_view name, std::string_view value, std::string* object) {
  const size_t end = object->find_last_not_of(" \t\r\n");
  if (end == std::string::npos || (*object)[end] != '}') return;
  const size_t before = object->find_last_not_of(" \t\r\n", end - 1);
  const bool empty = before != std::string::npos && (*object)[before] == '{';
  std::string member = empty ? "\"" : ",\"";
  member.append(name).append("\":").append(value);
  object->insert(end, member);
}

void TellBehind(int64_t behind_ms, http::Response* response) {
  if (behind_ms <= kTellBehindMs) return;
  const std::string text = std::to_string(behind_ms);
  if (response->content_type == kJson && response->status < 400) {
    return AddMember("behind_ms", text, &response->body);
  }
  response->headers.append("\r\nSeenDB-Behind-Ms: ").append(text);
}

bool CanNotTell(const http::Response& response) {
  return response.status == 503 && response.error_code == "unavailable";
}

}  // namespace seendb::router
