#include "http_client.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

namespace seendb::tool {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr int64_t kConnectTimeoutMs = 5'000;
constexpr uint64_t kAnswerBytesMax = 1ULL << 30;

Status StatusOf(StatusCode code, std::string message, std::string field = {}) {
  return {code, std::move(message), std::move(field)};
}

StatusCode CodeOfHttp(unsigned status) {
  switch (status) {
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

}  // namespace

/// One TCP connection. Beast's time limits work on asynchronous calls only, so each call is
/// started asynchronously and the context run until it is done.
class HttpClient::Connection {
 public:
  explicit Connection(int64_t timeout_ms) : timeout_(timeout_ms), stream_(context_) {}

  beast::error_code Connect(const ServerAddress& address) {
    beast::error_code error;
    asio::ip::tcp::resolver resolver(context_);
    const auto endpoints = resolver.resolve(address.host, address.port, error);
    if (error) return error;
    const std::chrono::milliseconds limit(std::min(timeout_.count(), kConnectTimeoutMs));
    stream_.expires_after(limit);
    stream_.async_connect(endpoints, [&](beast::error_code e, const auto&) { error = e; });
    Run();
    if (!error) stream_.socket().set_option(asio::ip::tcp::no_delay(true), error);
    return error;
  }

  /// Writes the request and reads the answer; `*answered` once a byte of it has come.
  template <typename Request>
  beast::error_code Exchange(const Request& request,
                             http::response_parser<http::string_body>* parser, bool* answered) {
    beast::error_code error;
    stream_.expires_after(timeout_);
    http::async_write(stream_, request, [&](beast::error_code e, size_t) { error = e; });
    Run();
    if (error) return error;
    http::async_read(stream_, buffer_, *parser, [&](beast::error_code e, size_t) { error = e; });
    Run();
    *answered = parser->got_some();
    return error;
  }

 private:
  void Run() {
    context_.restart();
    context_.run();
  }

  std::chrono::milliseconds timeout_;
  asio::io_context context_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
};

HttpClient::HttpClient(ServerAddress address, int64_t timeout_ms, std::string hint)
    : address_(std::move(address)), timeout_ms_(timeout_ms), hint_(std::move(hint)) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::Send(const HttpRequest& request) {
  http::request<http::span_body<const char>> message;
  message.method_string(request.method);
  message.target(address_.prefix + request.target);
  message.version(11);
  const bool ipv6 = address_.host.find(':') != std::string::npos;
  const std::string authority =
      (ipv6 ? "[" + address_.host + "]" : address_.host) + ":" + address_.port;
  message.set(http::field::host, authority);
  message.set(http::field::user_agent, "seendb");
  message.set(http::field::accept, "application/json");
  if (!request.body.empty()) {
    message.set(http::field::content_type,
                beast::string_view(request.content_type.data(), request.content_type.size()));
  }
  message.body() = {request.body.data(), request.body.size()};
  if (request.method != "GET") message.content_length(request.body.size());

  const std::string where = "http://" + authority;
  for (;;) {
    const bool kept = connection_ != nullptr;
    if (!kept) {
      connection_ = std::make_unique<Connection>(timeout_ms_);
      const beast::error_code error = connection_->Connect(address_);
      if (error) {
        connection_.reset();
        const std::string hint = hint_.empty() ? "" : " (" + hint_ + ")";
        return Status::Unavailable("can't reach " + where + ": " + error.message() + hint);
      }
    }
    http::response_parser<http::string_body> parser;
    parser.body_limit(kAnswerBytesMax);
    bool answered = false;
    const beast::error_code error = connection_->Exchange(message, &parser, &answered);
    if (error) {
      connection_.reset();
      // A kept connection may have idled out: every request here may be repeated.
      if (kept && !answered && error != beast::error::timeout) continue;
      return Status::Unavailable(where + request.target + ": " + error.message());
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
  Json json = Json::parse(response->body, nullptr, false);
  if (json.is_discarded()) return Status::Unavailable("the server's answer is not JSON");
  return json;
}

Status StatusOfAnswer(const HttpResponse& response) {
  const Json json = Json::parse(response.body, nullptr, false);
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
       i <= static_cast<uint8_t>(StatusCode::kIncomplete); ++i) {
    if (StatusCodeName(static_cast<StatusCode>(i)) == text("code")) {
      code = static_cast<StatusCode>(i);
    }
  }
  const std::string message = text("message");
  return StatusOf(code, message.empty() ? "the server answered " + status : message, text("field"));
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

Result<ServerAddress> ParseServerUrl(std::string_view url, std::string_view named_by) {
  const std::string whole(url);
  const auto bad = [&](const char* why) {
    return Status::InvalidArgument(std::string(named_by) + " " + whole + ": " + why);
  };
  if (url.starts_with("https://")) return bad("TLS is not spoken here; use http://");
  if (!url.starts_with("http://")) return bad("write http://HOST:PORT");
  url.remove_prefix(7);
  ServerAddress address;
  const size_t slash = url.find('/');
  if (slash != std::string_view::npos) {
    address.prefix = url.substr(slash);
    while (address.prefix.ends_with('/')) address.prefix.pop_back();
    url = url.substr(0, slash);
  }
  size_t colon = url.rfind(':');
  if (url.starts_with('[')) {
    const size_t close = url.find(']');
    if (close == std::string_view::npos) return bad("a bracket is open");
    address.host = url.substr(1, close - 1);
    colon = close + 1 < url.size() ? close + 1 : std::string_view::npos;
    if (colon != std::string_view::npos && url[colon] != ':') return bad("write [HOST]:PORT");
  } else {
    address.host = url.substr(0, colon);
  }
  if (address.host.empty()) return bad("the host is missing");
  if (colon != std::string_view::npos) address.port = url.substr(colon + 1);
  unsigned port = 0;
  const auto* end = address.port.data() + address.port.size();
  const auto parsed = std::from_chars(address.port.data(), end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end || port < 1 || port > 65'535) {
    return bad("the port is a number from 1 to 65535");
  }
  return address;
}

}  // namespace seendb::tool
