// net/http_connection.h: HTTP over one kept connection to a server. Blocking, with a time limit for
// each step and a limit for each answer.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "net/client_stream.h"

namespace seendb::net {

/// See the head of this file. Threads: one.
class HttpConnection {
 public:
  using Error = ClientStream::Error;
  using Request = boost::beast::http::request<boost::beast::http::span_body<const char>>;
  using Parser = boost::beast::http::response_parser<boost::beast::http::string_body>;

  HttpConnection(StreamTarget target, TlsFiles files, std::chrono::milliseconds timeout);

  /// No step of a later call lasts beyond `end`, whatever the time limit is (ClientStream::EndBy).
  void EndBy(std::chrono::steady_clock::time_point end);
  /// Connects, unless the connection of the last request can be used again: it can't where the
  /// server has closed it, or something came behind the last answer, which would be taken for the
  /// next one. Under TLS the server has the target's name. kUnavailable; kInvalidArgument: a file
  /// is not what it should be.
  Status Open();
  /// True where Open found a connection that was used before. The server may have given it up: a
  /// request to which not one byte came back may be sent again where repeating it is harmless.
  bool is_kept() const noexcept { return kept_; }
  /// Writes the request and reads the answer; a body of more than `bytes_most` bytes is
  /// error::body_limit. Closes after a failure, and where the answer says so. Precondition: Open
  /// succeeded.
  Error Exchange(const Request& request, uint64_t bytes_most, Parser* parser);
  /// The two halves of Exchange, for a caller that waits in between (`handle`, `HasUnread`).
  Error Send(const Request& request);
  Error Receive(uint64_t bytes_most, Parser* parser);
  /// The socket of the open connection, for poll(); -1: it is closed.
  int handle() { return stream_ ? stream_->handle() : -1; }
  /// Whether bytes have come that nobody has read, which poll() may not tell of under TLS.
  bool HasUnread() { return stream_ && stream_->HasUnread(); }
  /// Exchange that hands each piece of the body on as it comes; each may take the time limit. No
  /// more is read once `on_piece` returns false, and the connection is closed.
  Error ExchangePieces(const Request& request, uint64_t bytes_most, Parser* parser,
                       const std::function<bool(std::string_view)>& on_piece);

 private:
  Error ReadPieces(Parser* parser, const std::function<bool(std::string_view)>& on_piece);
  Error ReadAnswer(uint64_t bytes_most, Parser* parser);

  const StreamTarget target_;
  const TlsFiles files_;
  const std::chrono::milliseconds timeout_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::time_point::max();
  std::optional<ClientStream> stream_;
  boost::beast::flat_buffer buffer_;
  bool kept_ = false;
};

}  // namespace seendb::net
