#include "net/client_tls.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <boost/asio/ip/address.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace seendb::net {
namespace {

namespace ssl = boost::asio::ssl;
using TlsError = boost::system::error_code;

/// For TLS 1.2: keys of their own for each connection, and encryption that proves its text.
constexpr char kCiphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM";

/// OpenSSL has no words for a file that is not there.
Status BadFile(const std::string& path, const TlsError& error, const char* field) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    return Status::InvalidArgument(path + " is a folder; a PEM file is asked for", field);
  }
  if (access(path.c_str(), R_OK) != 0) {
    return Status::InvalidArgument("can't read " + path + ": " + std::strerror(errno), field);
  }
  return Status::InvalidArgument(path + ": " + error.message() + " (a PEM file is asked for)",
                                 field);
}

}  // namespace

Result<TlsContext> MakeTlsContext(const TlsFiles& files) {
  const auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  if (SSL_CTX_set_cipher_list(context->native_handle(), kCiphers) != 1) {
    return Status::InvalidArgument("OpenSSL has none of the ciphers " + std::string(kCiphers));
  }
  context->set_verify_mode(ssl::verify_peer);
  TlsError error;
  if (files.ca.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(files.ca, error);
    if (error) return BadFile(files.ca, error, "/ca");
  }
  if (const std::string& own = files.certificate; !own.empty()) {
    context->use_certificate_chain_file(own, error);
    if (error) return BadFile(own, error, "/certificate");
    const std::string& key = files.key.empty() ? own : files.key;
    context->use_private_key_file(key, ssl::context::pem, error);
    if (error) return BadFile(key, error, files.key.empty() ? "/certificate" : "/key");
  }
  return context;
}

void ExpectPeer(SSL* connection, const std::string& host) {
  TlsError no_address;
  boost::asio::ip::make_address(host, no_address);
  if (no_address) {
    SSL_set_tlsext_host_name(connection, host.c_str());
    SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(connection, host.c_str());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host.c_str());
  }
}

std::string HandshakeFailure(SSL* connection, const TlsError& error, const std::string& named_by) {
  const long verified = SSL_get_verify_result(connection);
  const auto code = static_cast<unsigned int>(error.value());
  if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER) {
    return "TLS: the server speaks none there (is it http://?)";
  }
  if (verified == X509_V_OK) return "TLS: " + error.message();
  return std::string("TLS: the server's certificate is refused: ") +
         X509_verify_cert_error_string(verified) + (named_by.empty() ? "" : " (" + named_by + ")");
}

}  // namespace seendb::net
