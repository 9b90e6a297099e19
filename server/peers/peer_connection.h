// server/peers/peer_connection.h: one connection to another node, over TCP or TLS: one question at
// a time.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "net/client_tls.h"
#include "net/stream_target.h"
#include "peers/peer_thread.h"

namespace seendb::peers {

/// See the head of this file. Kept alive by its pending operation and by its PeerThread. Threads:
/// that of `owner`.
class PeerConnection : public std::enable_shared_from_this<PeerConnection> {
 public:
  /// `tls`: for an address of https; null: such a one is refused.
  PeerConnection(boost::asio::io_context& context, PeerThread* owner,
                 const PeerClientOptions& options, net::TlsContext tls, const std::string& url);

  /// Asks; connects first, if it is new. Precondition: nothing is under way.
  void Begin(std::shared_ptr<Exchange> exchange);
  /// Whether the peer has closed it, or sent what nobody asked for.
  bool IsStale();
  /// Whether what is under way should have ended a while ago: resolving a name has no limit.
  bool IsLate(std::chrono::steady_clock::time_point now) const;
  /// What is under way ends like that.
  void Abort(PeerAnswer::Kind kind, const std::string& why);

  const std::string& url() const { return url_; }
  /// The TLS context that the connection was made with.
  const net::TlsContext& tls() const { return tls_context_; }
  std::chrono::steady_clock::time_point idle_since() const { return idle_since_; }

 private:
  using Error = boost::beast::error_code;
  using Tcp = boost::asio::ip::tcp;

  /// Calls `start` with the stream that HTTP goes over.
  template <typename Start>
  void OnStream(Start start);
  void Resolve();
  void Connect(const Tcp::resolver::results_type& found);
  void Secure();
  void Write();
  void Read();
  void ReadBody();
  void Answered();
  /// Asks the same once more, on a new connection.
  void Repeat(bool keep);
  /// What is under way, which is no longer this connection's. `keep`: another may follow it.
  std::shared_ptr<Exchange> LetGo(bool keep);
  void Fail(PeerAnswer::Kind kind, const std::string& why);
  void FailBy(Error error);
  void End(PeerAnswer answer, bool keep);

  PeerThread* const owner_;
  const PeerClientOptions& options_;
  const std::string url_;
  const net::TlsContext tls_context_;
  net::StreamTarget target_;  // of url_; Begin finds it
  Tcp::resolver resolver_;
  boost::beast::tcp_stream stream_;
  std::optional<boost::beast::ssl_stream<boost::beast::tcp_stream&>> tls_;  // around stream_
  boost::beast::flat_buffer buffer_;
  // The last exchange's, until another begins.
  boost::beast::http::request<boost::beast::http::span_body<const char>> request_;
  std::string proof_;
  std::optional<boost::beast::http::response_parser<boost::beast::http::string_body>> parser_;
  std::shared_ptr<Exchange> exchange_;  // under way
  std::chrono::steady_clock::time_point idle_since_;
  bool connected_ = false;
  bool reused_ = false;  // it has answered before
};

}  // namespace seendb::peers
