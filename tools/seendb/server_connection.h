// seendb/server_connection.h: HTTP over one connection to a server. Blocking, with a time limit for
// each step.

#pragma once

#include <chrono>
#include <cstdint>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "net/client_stream.h"
#include "server_address.h"

namespace seendb::tool {

/// See the head of this file. Threads: one.
class ServerConnection {
 public:
  using Error = boost::beast::error_code;
  using Request = boost::beast::http::request<boost::beast::http::span_body<const char>>;
  using Parser = boost::beast::http::response_parser<boost::beast::http::string_body>;

  explicit ServerConnection(int64_t timeout_ms) : stream_(std::chrono::milliseconds(timeout_ms)) {}

  /// Connects and, under https, agrees on TLS with a server that has the address's name. The
  /// message of a failure; kInvalidArgument: a file of `credentials` is not what it should be.
  Status Connect(const ServerAddress& address, const Credentials& credentials);
  /// Whether something came behind the last answer: it would be taken for the next one.
  bool IsStale() { return buffer_.size() > 0 || stream_.HasUnread(); }
  /// Writes the request and reads the answer, whose body has at most so many bytes; `*answered`
  /// once a byte of it has come.
  Error Exchange(const Request& request, uint64_t bytes_most, Parser* parser, bool* answered);

 private:
  net::ClientStream stream_;
  boost::beast::flat_buffer buffer_;
};

}  // namespace seendb::tool
