// seendb/server_connection.h: one connection to a server, over TCP or a socket of the file system,
// with TLS or without. Blocking, with a time limit for each step.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "server_address.h"

namespace seendb::tool {

/// See the head of this file. Beast's time limits work on asynchronous calls only, so each call is
/// started asynchronously and the context run until it is done. Threads: one.
class ServerConnection {
 public:
  using Error = boost::beast::error_code;
  using Request = boost::beast::http::request<boost::beast::http::span_body<const char>>;
  using Parser = boost::beast::http::response_parser<boost::beast::http::string_body>;

  explicit ServerConnection(int64_t timeout_ms) : timeout_(timeout_ms), stream_(context_) {}

  /// Connects and, under https, agrees on TLS with a server that has the address's name. The
  /// message of a failure; kInvalidArgument: a file of `credentials` is not what it should be.
  Status Connect(const ServerAddress& address, const Credentials& credentials);
  /// Writes the request and reads the answer; `*answered` once a byte of it has come.
  Error Exchange(const Request& request, Parser* parser, bool* answered);

 private:
  using Plain = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;

  Error ConnectTo(const ServerAddress& address);
  Status Secure(const ServerAddress& address, const Credentials& credentials);
  template <typename Stream>
  Error ExchangeOn(Stream& stream, const Request& request, Parser* parser, bool* answered);
  void Run();

  std::chrono::milliseconds timeout_;
  boost::asio::io_context context_;
  Plain stream_;
  std::unique_ptr<boost::asio::ssl::context> tls_context_;
  std::unique_ptr<boost::asio::ssl::stream<Plain&>> tls_;  // around stream_
  boost::beast::flat_buffer buffer_;
};

}  // namespace seendb::tool
