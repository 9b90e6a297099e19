// seendb/http_client.h: the tool's side of a running server: HTTP/1.1 over one kept connection,
// with TLS and a token where they are asked for.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "net/http_connection.h"
#include "seendb/status.h"
#include "server_address.h"

namespace seendb::tool {

/// JSON that keeps the order of its fields, as the reports are printed.
using Json = nlohmann::ordered_json;

/// `text` with everything but letters, digits and -._~ as %XX.
std::string PercentEncode(std::string_view text);

/// What is taken of a server: a longer answer fails, one that is deeper or has more values is none.
inline constexpr uint64_t kAnswerBytesMost = 64u << 20;
inline constexpr size_t kAnswerDepthMost = 64, kAnswerValuesMost = 1'000'000;

/// The JSON of an answer; a discarded value where it is none, or too much.
inline Json ParseAnswer(std::string_view body, size_t values_most = kAnswerValuesMost) {
  return ParseOutside<Json>(body, kAnswerDepthMost, values_most);
}

/// One request. `body` is borrowed for the call.
struct HttpRequest {
  std::string method = "GET";
  std::string target = {};  ///< "/admin/stats", already encoded
  std::string_view body = {};
  std::string_view content_type = "application/json";
  uint64_t answer_bytes_most = kAnswerBytesMost;
  size_t answer_values_most = kAnswerValuesMost;
  std::string range = {};  ///< "bytes=0-99": part of a file; empty: all of it
};

/// One answer.
struct HttpResponse {
  unsigned status = 0;
  int64_t retry_after_s = 0;  ///< 0: the server named none
  std::string body;
};

/// A client of one server: blocking, with a time limit for each request. A connection that the
/// server closed between requests is opened again. Threads: one.
class HttpClient {
 public:
  /// `hint` is added in brackets to the message that nobody listens at the address.
  HttpClient(ServerAddress address, int64_t timeout_ms, std::string hint = {},
             Credentials credentials = {});
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Requests for /admin/... and /metrics go there from now on: the server's admin_listen.
  void SendAdminTo(std::unique_ptr<HttpClient> admin) { admin_ = std::move(admin); }
  /// Sends a request and reads its answer, whatever its status. kUnavailable: no connection, a
  /// broken one, or no answer in time; the server may have acted.
  Result<HttpResponse> Send(const HttpRequest& request);
  /// Sends a request, and hands the body of an answer 200 on piece by piece as it comes, each
  /// within the time limit; `on_piece` returns false to end it. The body of another answer is
  /// returned.
  Result<HttpResponse> Stream(const HttpRequest& request,
                              const std::function<bool(std::string_view)>& on_piece);
  /// Send, and the answer's JSON; an answer other than 2xx becomes a Status by its error code.
  Result<Json> Call(const HttpRequest& request);

 private:
  using OnPiece = std::function<bool(std::string_view)>;
  /// `on_piece` empty: the body is returned.
  Result<HttpResponse> Exchange(const HttpRequest& request, const OnPiece& on_piece);

  ServerAddress address_;
  std::string hint_;
  std::string token_;
  net::HttpConnection connection_;
  std::unique_ptr<HttpClient> admin_;  // null: this one
};

/// The Status an answer other than 2xx stands for: by the error code in its body, otherwise by
/// its HTTP status.
Status StatusOfAnswer(const HttpResponse& response);

}  // namespace seendb::tool
