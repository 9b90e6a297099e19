#include "net/client_stream.h"

#include <algorithm>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <openssl/ssl.h>

namespace seendb::net {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kConnectTimeout{5'000};

Status BadFile(const std::string& path, const boost::beast::error_code& error) {
  return Status::InvalidArgument(path + ": " + error.message());
}

}  // namespace

void ClientStream::RunContext() {
  context_.restart();
  context_.run();
}

ClientStream::Error ClientStream::ConnectPlain(const StreamTarget& target) {
  using Endpoint = asio::generic::stream_protocol::endpoint;
  Error error;
  std::vector<Endpoint> endpoints;
  if (!target.unix_path.empty()) {
    if (target.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
      return boost::system::errc::make_error_code(boost::system::errc::filename_too_long);
    }
    endpoints.emplace_back(asio::local::stream_protocol::endpoint(target.unix_path));
  } else {
    asio::ip::tcp::resolver resolver(context_);
    const auto found = resolver.resolve(target.host, target.port, error);
    if (error) return error;
    for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
  }
  plain_.expires_after(std::min(timeout_, kConnectTimeout));
  plain_.async_connect(endpoints, [&](Error e, const Endpoint&) { error = e; });
  RunContext();
  if (!error && target.unix_path.empty()) {
    plain_.socket().set_option(asio::ip::tcp::no_delay(true), error);
  }
  return error;
}

Status ClientStream::Connect(const StreamTarget& target, const TlsFiles& files) {
  if (const Error error = ConnectPlain(target)) return Status::Unavailable(error.message());
  return target.secure ? Secure(target, files) : Status();
}

Status ClientStream::Secure(const StreamTarget& target, const TlsFiles& files) {
  namespace ssl = asio::ssl;
  Error error;
  tls_context_ = std::make_unique<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(tls_context_->native_handle(), TLS1_2_VERSION);
  if (files.ca.empty()) {
    tls_context_->set_default_verify_paths(error);
  } else {
    tls_context_->load_verify_file(files.ca, error);
    if (error) return BadFile(files.ca, error);
  }
  if (const std::string& own = files.certificate; !own.empty()) {
    tls_context_->use_certificate_chain_file(own, error);
    if (!error) tls_context_->use_private_key_file(own, ssl::context::pem, error);
    if (error) return BadFile(own, error);
  }
  tls_ = std::make_unique<ssl::stream<Plain&>>(plain_, *tls_context_);
  tls_->set_verify_mode(ssl::verify_peer);
  tls_->set_verify_callback(ssl::host_name_verification(target.host));
  Error no_address;
  asio::ip::make_address(target.host, no_address);
  if (no_address) SSL_set_tlsext_host_name(tls_->native_handle(), target.host.c_str());
  plain_.expires_after(std::min(timeout_, kConnectTimeout));
  tls_->async_handshake(ssl::stream_base::client, [&](Error e) { error = e; });
  RunContext();
  if (!error) return {};
  const long verified = SSL_get_verify_result(tls_->native_handle());
  if (verified == X509_V_OK) return Status::Unavailable("TLS: " + error.message());
  return Status::Unavailable(std::string("TLS: the server's certificate is refused: ") +
                             X509_verify_cert_error_string(verified) +
                             (files.named_by.empty() ? "" : " (" + files.named_by + ")"));
}

}  // namespace seendb::net
