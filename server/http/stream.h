// server/http/stream.h: a connected socket, of TCP or of the file system, with TLS around it or
// without. Every function is used on the socket's own I/O thread.

#pragma once

#include <cassert>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "http/current_tls.h"
#include "http/tls.h"

namespace seendb::http {

/// See the head of this file.
class Stream {
 public:
  using Protocol = boost::asio::generic::stream_protocol;
  using Socket = Protocol::socket;

  /// `tls`: null for none.
  Stream(Socket socket, TlsContext tls)
      : context_(std::move(tls)), trusted_by_(context_), socket_(std::move(socket)) {
    if (context_) tls_ = std::make_unique<Secured>(socket_, *context_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Socket::executor_type get_executor() { return socket_.get_executor(); }
  /// Under TLS. Then Handshake has to come before anything is read or written.
  bool secure() const { return tls_ != nullptr; }
  /// The peer's address, "unix" for a socket of the file system; empty: it is gone.
  static std::string PeerName(const Socket& socket);
  /// The common name of the peer's certificate, which was verified; empty: it has shown none.
  std::string CertificateName() const;
  /// Whether the peer's certificate counts by `current` too, where that is another than what the
  /// connection was made with, or last looked at by. True where clients show none.
  bool IsTrusted(const CurrentTls& current);

  /// Goes on from the peer's first bytes, `hello`, which were read and stay until the handler runs.
  /// What they cost is spent before it returns, most of it for the answer's signature.
  /// Precondition: secure().
  template <typename Handler>
  void Handshake(boost::asio::const_buffer hello, Handler handler) {
    assert(secure());
    tls_->async_handshake(boost::asio::ssl::stream_base::server, hello, std::move(handler));
  }
  template <typename Handler>
  void Read(boost::asio::mutable_buffer into, Handler handler) {
    if (tls_) return tls_->async_read_some(into, std::move(handler));
    socket_.async_read_some(into, std::move(handler));
  }
  /// Writes all; `written` is asked how much at a time, as async_write does.
  template <typename Buffers, typename Written, typename Handler>
  void Write(const Buffers& buffers, Written written, Handler handler) {
    if (tls_) {
      return boost::asio::async_write(*tls_, buffers, std::move(written), std::move(handler));
    }
    boost::asio::async_write(socket_, buffers, std::move(written), std::move(handler));
  }
  /// Tells the peer that nothing more is written. Precondition: secure().
  template <typename Handler>
  void SayEnd(Handler handler) {
    assert(secure());
    tls_->async_shutdown(std::move(handler));
  }
  /// Reads what nobody looks at, past TLS.
  template <typename Handler>
  void ReadRaw(boost::asio::mutable_buffer into, Handler handler) {
    socket_.async_read_some(into, std::move(handler));
  }
  /// The socket itself. To read or write beside this class: not under TLS.
  int descriptor() { return socket_.native_handle(); }
  /// Calls once bytes can be read past TLS, or the peer has closed.
  template <typename Handler>
  void WaitReadable(Handler handler) {
    socket_.async_wait(Socket::wait_read, std::move(handler));
  }
  /// Gives the socket away. Precondition: not secure(), and nothing is under way.
  Socket Release() {
    assert(!secure());
    return std::move(socket_);
  }
  /// Close will tell the peer at once that nothing is read or written any more.
  void ResetOnClose();
  /// Sends no more.
  void ShutdownSend();
  void Close();

 private:
  using Secured = boost::asio::ssl::stream<Socket&>;

  const TlsContext context_;
  TlsContext trusted_by_;
  Socket socket_;
  std::unique_ptr<Secured> tls_;  // around socket_
};

}  // namespace seendb::http
