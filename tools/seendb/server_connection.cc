#include "server_connection.h"

#include <algorithm>
#include <string>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <openssl/ssl.h>

namespace seendb::tool {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::chrono::milliseconds kConnectTimeout{5'000};

Status BadFile(const std::string& path, const beast::error_code& error) {
  return Status::InvalidArgument(path + ": " + error.message());
}

}  // namespace

void ServerConnection::Run() {
  context_.restart();
  context_.run();
}

ServerConnection::Error ServerConnection::ConnectTo(const ServerAddress& address) {
  using Endpoint = asio::generic::stream_protocol::endpoint;
  Error error;
  std::vector<Endpoint> endpoints;
  if (!address.unix_path.empty()) {
    if (address.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
      return boost::system::errc::make_error_code(boost::system::errc::filename_too_long);
    }
    endpoints.emplace_back(asio::local::stream_protocol::endpoint(address.unix_path));
  } else {
    asio::ip::tcp::resolver resolver(context_);
    const auto found = resolver.resolve(address.host, address.port, error);
    if (error) return error;
    for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
  }
  stream_.expires_after(std::min(timeout_, kConnectTimeout));
  stream_.async_connect(endpoints, [&](Error e, const Endpoint&) { error = e; });
  Run();
  if (!error && address.unix_path.empty()) {
    stream_.socket().set_option(asio::ip::tcp::no_delay(true), error);
  }
  return error;
}

Status ServerConnection::Connect(const ServerAddress& address, const Credentials& credentials) {
  if (const Error error = ConnectTo(address)) return Status::Unavailable(error.message());
  return address.secure ? Secure(address, credentials) : Status();
}

Status ServerConnection::Secure(const ServerAddress& address, const Credentials& credentials) {
  namespace ssl = asio::ssl;
  Error error;
  tls_context_ = std::make_unique<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(tls_context_->native_handle(), TLS1_2_VERSION);
  if (credentials.ca.empty()) {
    tls_context_->set_default_verify_paths(error);
  } else {
    tls_context_->load_verify_file(credentials.ca, error);
    if (error) return BadFile(credentials.ca, error);
  }
  if (const std::string& own = credentials.certificate; !own.empty()) {
    tls_context_->use_certificate_chain_file(own, error);
    if (!error) tls_context_->use_private_key_file(own, ssl::context::pem, error);
    if (error) return BadFile(own, error);
  }
  tls_ = std::make_unique<ssl::stream<Plain&>>(stream_, *tls_context_);
  tls_->set_verify_mode(ssl::verify_peer);
  tls_->set_verify_callback(ssl::host_name_verification(address.host));
  Error no_address;
  asio::ip::make_address(address.host, no_address);
  if (no_address) SSL_set_tlsext_host_name(tls_->native_handle(), address.host.c_str());
  stream_.expires_after(std::min(timeout_, kConnectTimeout));
  tls_->async_handshake(ssl::stream_base::client, [&](Error e) { error = e; });
  Run();
  if (!error) return {};
  const long verified = SSL_get_verify_result(tls_->native_handle());
  if (verified == X509_V_OK) return Status::Unavailable("TLS: " + error.message());
  return Status::Unavailable(std::string("TLS: the server's certificate is refused: ") +
                             X509_verify_cert_error_string(verified) + " (--ca, SEENDB_CA)");
}

template <typename Stream>
ServerConnection::Error ServerConnection::ExchangeOn(Stream& stream, const Request& request,
                                                     Parser* parser, bool* answered) {
  Error error;
  stream_.expires_after(timeout_);
  http::async_write(stream, request, [&](Error e, size_t) { error = e; });
  Run();
  if (error) return error;
  http::async_read(stream, buffer_, *parser, [&](Error e, size_t) { error = e; });
  Run();
  *answered = parser->got_some();
  return error;
}

ServerConnection::Error ServerConnection::Exchange(const Request& request, Parser* parser,
                                                   bool* answered) {
  return tls_ ? ExchangeOn(*tls_, request, parser, answered)
              : ExchangeOn(stream_, request, parser, answered);
}

}  // namespace seendb::tool
