#include "http_client.h"

#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "server_connection.h"

namespace seendb::tool {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

Status StatusOf(StatusCode code, std::string message, std::string field = {}) {
  return {code, std::move(message), std::move(field)};
}

StatusCode CodeOfHttp(unsigned status) {
  switch (status) {
    case 401:
    case 403:
      return StatusCode::kForbidden;
    case 404:
      return StatusCode::kNotFound;
    case 409:
      return StatusCode::kIncompatible;
    case 429:
    case 503:
      return StatusCode::kUnavailable;
    case 507:
      return StatusCode::kIOError;
    default:
      return status >= 500 ? StatusCode::kUnavailable : StatusCode::kInvalidArgument;
  }
}

/// Whether the route is one of those that admin_listen takes.
bool IsAdmin(std::string_view target) {
  return target.starts_with("/admin/") || target.starts_with("/metrics");
}

}  // namespace

HttpClient::HttpClient(ServerAddress address, int64_t timeout_ms, std::string hint,
                       Credentials credentials)
    : address_(std::move(address)),
      timeout_ms_(timeout_ms),
      hint_(std::move(hint)),
      credentials_(std::move(credentials)) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::Send(const HttpRequest& request) {
  if (admin_ != nullptr && IsAdmin(request.target)) return admin_->Send(request);
  ServerConnection::Request message;
  message.method_string(request.method);
  message.target(address_.prefix + request.target);
  message.version(11);
  message.set(http::field::host, address_.Authority());
  message.set(http::field::user_agent, "seendb");
  message.set(http::field::accept, "application/json");
  if (!credentials_.token.empty()) {
    message.set(http::field::authorization, "Bearer " + credentials_.token);
  }
  if (!request.body.empty()) {
    message.set(http::field::content_type,
                beast::string_view(request.content_type.data(), request.content_type.size()));
  }
  message.body() = {request.body.data(), request.body.size()};
  if (request.method != "GET") message.content_length(request.body.size());

  const std::string where = address_.ToUrl();
  for (;;) {
    if (connection_ != nullptr && connection_->IsStale()) connection_.reset();
    const bool kept = connection_ != nullptr;
    if (!kept) {
      connection_ = std::make_unique<ServerConnection>(timeout_ms_);
      const Status connected = connection_->Connect(address_, credentials_);
      if (!connected.ok()) {
        connection_.reset();
        const std::string hint = hint_.empty() ? "" : " (" + hint_ + ")";
        return Status(connected.code(),
                      "can't reach " + where + ": " + std::string(connected.message()) + hint);
      }
    }
    ServerConnection::Parser parser;
    bool answered = false;
    const beast::error_code error =
        connection_->Exchange(message, request.answer_bytes_most, &parser, &answered);
    if (error) {
      connection_.reset();
      // A kept connection may have idled out: every request here may be repeated.
      if (kept && !answered && error != beast::error::timeout) continue;
      const bool tls_maybe = error == http::error::end_of_stream && where.starts_with("http:");
      return Status::Unavailable(where + request.target + ": " + error.message() +
                                 (tls_maybe ? " (does the server speak https?)" : ""));
    }
    HttpResponse response;
    response.status = parser.get().result_int();
    const auto retry_after = parser.get()[http::field::retry_after];
    std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(),
                    response.retry_after_s);
    response.body = std::move(parser.get().body());
    if (!parser.get().keep_alive()) connection_.reset();
    return response;
  }
}

Result<Json> HttpClient::Call(const HttpRequest& request) {
  auto response = Send(request);
  if (!response.ok()) return response.status();
  if (response->status < 200 || response->status > 299) return StatusOfAnswer(*response);
  if (response->body.empty()) return Json::object();
  Json json = ParseAnswer(response->body);
  if (json.is_discarded()) {
    return Status::Unavailable("the server's answer is not JSON, or more than " +
                               std::to_string(kAnswerDepthMost) + " levels deep, or of more than " +
                               std::to_string(kAnswerValuesMost) + " values");
  }
  return json;
}

Status StatusOfAnswer(const HttpResponse& response) {
  const Json json = ParseAnswer(response.body);
  const std::string status = "HTTP " + std::to_string(response.status);
  if (!json.is_object() || !json.contains("error") || !json["error"].is_object()) {
    return StatusOf(CodeOfHttp(response.status), "the server answered " + status);
  }
  const Json& error = json["error"];
  const auto text = [&](const char* name) {
    const auto found = error.find(name);
    return found != error.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  StatusCode code = CodeOfHttp(response.status);
  for (auto i = static_cast<uint8_t>(StatusCode::kInvalidArgument);
       i <= static_cast<uint8_t>(StatusCode::kForbidden); ++i) {
    if (StatusCodeName(static_cast<StatusCode>(i)) == text("code")) {
      code = static_cast<StatusCode>(i);
    }
  }
  std::string message = text("message");
  if (message.empty()) message = "the server answered " + status;
  if (response.status == 401) message += " (--token-file, SEENDB_TOKEN_FILE)";
  return StatusOf(code, std::move(message), text("field"));
}

std::string PercentEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 &&
        (std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos)) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace seendb::tool
