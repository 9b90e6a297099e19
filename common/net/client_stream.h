// net/client_stream.h: one connection of a client, over TCP or a socket of the file system, with
// TLS or without. Blocking, with a time limit for each step.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>

#include "net/client_tls.h"
#include "net/stream_target.h"
#include "seendb/status.h"

namespace seendb::net {

/// See the head of this file. Beast's time limits work on asynchronous calls only, so each call is
/// started asynchronously and the context run until it is done. Threads: one.
class ClientStream {
 public:
  using Error = boost::beast::error_code;

  explicit ClientStream(std::chrono::milliseconds timeout) : timeout_(timeout), plain_(context_) {}

  /// Connects and, where the target is secure, agrees on TLS with a peer that has the target's
  /// name. kUnavailable; kInvalidArgument: a file of `files` is not what it should be.
  Status Connect(const StreamTarget& target, const TlsFiles& files);

  /// No step of a later call lasts beyond `end`, whatever the time limit is. Looking a name up is
  /// not limited: the system's resolver has a limit of its own.
  void EndBy(std::chrono::steady_clock::time_point end) { end_ = end; }

  /// Whether bytes have come that nobody has read: where nothing was asked, they are no answer. The
  /// first tickets of a TLS server count as such until something was read.
  bool HasUnread();
  /// Whether the other side has ended the connection, and nothing is left to be read.
  bool HasEnded();
  /// The socket, to be waited for by poll(); this stream owns it.
  int handle() { return plain_.socket().native_handle(); }

  /// Runs one asynchronous operation to its end: `start(stream, on_end)` begins it on the stream,
  /// and on_end takes its error and whatever else an operation of Asio tells.
  template <typename Start>
  Error Run(Start start) {
    Error error;
    const auto on_end = [&error](Error e, auto...) { error = e; };
    plain_.expires_after(Limit(timeout_));
    if (tls_) {
      start(*tls_, on_end);
    } else {
      start(plain_, on_end);
    }
    RunContext();
    return error;
  }

 private:
  using Plain = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;

  Error ConnectPlain(const StreamTarget& target);
  Status Secure(const StreamTarget& target, const TlsFiles& files);
  void RunContext();
  /// `most`, or what is left until the end.
  std::chrono::nanoseconds Limit(std::chrono::milliseconds most) const;

  std::chrono::milliseconds timeout_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::time_point::max();
  boost::asio::io_context context_;
  Plain plain_;
  TlsContext tls_context_;
  std::unique_ptr<boost::asio::ssl::stream<Plain&>> tls_;  // around plain_
};

}  // namespace seendb::net
