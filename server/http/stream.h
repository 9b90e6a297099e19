// server/http/stream.h: a connected socket, of TCP or of the file system, with TLS around it or
// without. Every function is used on the socket's own I/O thread.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "http/tls.h"

namespace seendb::http {

/// See the head of this file.
class Stream {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  /// `tls`: null for none.
  Stream(Socket socket, TlsContext tls) : context_(std::move(tls)), socket_(std::move(socket)) {
    if (context_) tls_ = std::make_unique<Secured>(socket_, *context_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Socket::executor_type get_executor() { return socket_.get_executor(); }
  /// Under TLS. Then Handshake has to come before anything is read or written.
  bool secure() const { return tls_ != nullptr; }
  /// The peer's address, "unix" for a socket of the file system; empty: it is gone.
  std::string PeerName() const;
  /// The common name of the peer's certificate, which was verified; empty: it has shown none.
  std::string CertificateName() const;

  /// Precondition: secure().
  template <typename Handler>
  void Handshake(Handler handler) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::move(handler));
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
    tls_->async_shutdown(std::move(handler));
  }
  /// Reads what nobody looks at, past TLS.
  template <typename Handler>
  void ReadRaw(boost::asio::mutable_buffer into, Handler handler) {
    socket_.async_read_some(into, std::move(handler));
  }
  /// Sends no more.
  void ShutdownSend();
  void Close();

 private:
  using Secured = boost::asio::ssl::stream<Socket&>;

  const TlsContext context_;
  Socket socket_;
  std::unique_ptr<Secured> tls_;  // around socket_
};

}  // namespace seendb::http
