#include "http/stream.h"

#include <array>
#include <memory>
#include <utility>

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

namespace seendb::http {
namespace {

/// Whether the certificate that the peer of `connection` has shown counts by `context`.
bool Trusts(SSL_CTX* context, const SSL* connection) {
  if ((SSL_CTX_get_verify_mode(context) & SSL_VERIFY_PEER) == 0) return true;
  X509* const certificate = SSL_get0_peer_certificate(connection);
  if (certificate == nullptr) return false;
  const std::unique_ptr<X509_STORE_CTX, void (*)(X509_STORE_CTX*)> judge(X509_STORE_CTX_new(),
                                                                         &X509_STORE_CTX_free);
  const bool ready =
      judge && X509_STORE_CTX_init(judge.get(), SSL_CTX_get_cert_store(context), certificate,
                                   SSL_get_peer_cert_chain(connection)) == 1;
  // OpenSSL's handshake judges by the same purpose.
  return ready && X509_STORE_CTX_set_default(judge.get(), "ssl_client") == 1 &&
         X509_verify_cert(judge.get()) == 1;
}

}  // namespace

std::string Stream::PeerName(const Socket& socket) {
  boost::system::error_code gone;
  const auto peer = socket.remote_endpoint(gone);
  if (gone) return {};
  const sockaddr* const address = peer.data();
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_UNIX) return "unix";
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  }
  if (bytes == nullptr ||
      inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr) {
    return {};
  }
  return text.data();
}

std::string Stream::CertificateName() const {
  if (!tls_ || SSL_get_verify_result(tls_->native_handle()) != X509_V_OK) return {};
  X509* const certificate = SSL_get1_peer_certificate(tls_->native_handle());
  if (certificate == nullptr) return {};
  std::array<char, 256> name{};
  const int length = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                               name.data(), static_cast<int>(name.size()));
  X509_free(certificate);
  return length > 0 ? std::string(name.data(), static_cast<size_t>(length)) : std::string();
}

bool Stream::IsTrusted(const CurrentTls& current) {
  if (!tls_ || current.Is(trusted_by_)) return true;
  TlsContext now = current.Get();
  if (now == nullptr || !Trusts(now->native_handle(), tls_->native_handle())) return false;
  trusted_by_ = std::move(now);
  return true;
}

void Stream::ResetOnClose() {
  boost::system::error_code ignored;
  socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
}

void Stream::ShutdownSend() {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Stream::Close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace seendb::http
