#include "http_client.h"

#include <cctype>
#include <charconv>
#include <chrono>
#include <utility>

#include "wire/failure_json.h"
#include "wire/status_codes.h"

namespace seendb::tool {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

/// Whether the route is one of those that admin_listen takes.
bool IsAdmin(std::string_view target) {
  return target.starts_with("/admin/") || target.starts_with("/metrics");
}

}  // namespace

HttpClient::HttpClient(ServerAddress address, int64_t timeout_ms, std::string hint,
                       Credentials credentials)
    : address_(std::move(address)),
      hint_(std::move(hint)),
      token_(std::move(credentials.token)),
      connection_({.host = address_.host,
                   .port = address_.port,
                   .secure = address_.secure,
                   .unix_path = address_.unix_path},
                  {.ca = std::move(credentials.ca),
                   .certificate = std::move(credentials.certificate),
                   .named_by = "--ca, SEENDB_CA"},
                  std::chrono::milliseconds(timeout_ms)) {}

Result<HttpResponse> HttpClient::Send(const HttpRequest& request) { return Exchange(request, {}); }

Result<HttpResponse> HttpClient::Stream(const HttpRequest& request, const OnPiece& on_piece) {
  return Exchange(request, on_piece);
}

Result<HttpResponse> HttpClient::Exchange(const HttpRequest& request, const OnPiece& on_piece) {
  if (admin_ != nullptr && IsAdmin(request.target)) return admin_->Exchange(request, on_piece);
  net::HttpConnection::Request message;
  message.method_string(request.method);
  message.target(address_.prefix + request.target);
  message.version(11);
  message.set(http::field::host, address_.Authority());
  message.set(http::field::user_agent, "seendb");
  message.set(http::field::accept, "application/json");
  if (!request.range.empty()) message.set(http::field::range, request.range);
  if (!token_.empty()) message.set(http::field::authorization, "Bearer " + token_);
  if (!request.body.empty()) {
    message.set(http::field::content_type,
                beast::string_view(request.content_type.data(), request.content_type.size()));
  }
  message.body() = {request.body.data(), request.body.size()};
  if (request.method != "GET") message.content_length(request.body.size());

  const std::string where = address_.ToUrl();
  for (;;) {
    if (const Status open = connection_.Open(); !open.ok()) {
      const std::string hint = hint_.empty() ? "" : " (" + hint_ + ")";
      return Status(open.code(),
                    "can't reach " + where + ": " + std::string(open.message()) + hint);
    }
    net::HttpConnection::Parser parser;
    std::string body;  // of a refusal, where pieces were asked for
    const auto take = [&](std::string_view piece) {
      if (parser.get().result_int() == 200) return on_piece(piece);
      body += piece;
      return body.size() <= kAnswerBytesMost;
    };
    const beast::error_code error =
        on_piece ? connection_.ExchangePieces(message, request.answer_bytes_most, &parser, take)
                 : connection_.Exchange(message, request.answer_bytes_most, &parser);
    if (error) {
      // A kept connection may have idled out: every request here may be repeated.
      if (connection_.is_kept() && !parser.got_some() && error != beast::error::timeout) continue;
      const bool tls_maybe = error == http::error::end_of_stream && where.starts_with("http:");
      return Status::Unavailable(where + request.target + ": " + error.message() +
                                 (tls_maybe ? " (does the server speak https?)" : ""));
    }
    HttpResponse response;
    response.status = parser.get().result_int();
    const auto retry_after = parser.get()[http::field::retry_after];
    std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(),
                    response.retry_after_s);
    response.body = on_piece ? std::move(body) : std::move(parser.get().body());
    return response;
  }
}

Result<Json> HttpClient::Call(const HttpRequest& request) {
  auto response = Send(request);
  if (!response.ok()) return response.status();
  if (response->status < 200 || response->status > 299) return StatusOfAnswer(*response);
  if (response->body.empty()) return Json::object();
  Json json = ParseAnswer(response->body, request.answer_values_most);
  if (json.is_discarded()) {
    return Status::Unavailable("the server's answer is not JSON, or more than " +
                               std::to_string(kAnswerDepthMost) + " levels deep, or of more than " +
                               std::to_string(request.answer_values_most) + " values");
  }
  return json;
}

Status StatusOfAnswer(const HttpResponse& response) {
  const Status told = wire::FailureOf(response.body, wire::CodeOfHttpStatus(response.status));
  std::string message(told.message());
  if (message.empty()) message = "the server answered HTTP " + std::to_string(response.status);
  if (response.status == 401) message += " (--token-file, SEENDB_TOKEN_FILE)";
  return {told.code(), std::move(message), std::string(told.field())};
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
