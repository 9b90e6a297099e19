#include "http/tls.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace seendb::http {
namespace {

namespace ssl = boost::asio::ssl;

/// Sessions of another server are never resumed here.
constexpr std::array<unsigned char, 6> kSessionContext = {'s', 'e', 'e', 'n', 'd', 'b'};

/// Of TLS 1.2: keys of their own for each connection, and encryption that proves its text. So
/// neither a key that is stolen later opens what was recorded, nor is there padding to guess.
constexpr char kCiphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";

/// The newest thing OpenSSL has to say.
std::string Reason() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  return reason == nullptr ? "can't be read" : reason;
}

/// What others may do with the file that holds the key.
std::optional<TlsFailure> CheckMode(const std::string& path, std::string* warning) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) {
    return TlsFailure{"key", "can't read " + path + ": " + std::strerror(errno)};
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return TlsFailure{"key", path + " can be written by others; do: chmod go-w " + path};
  }
  if ((about.st_mode & S_IROTH) != 0) {
    *warning = path + " can be read by everybody; do: chmod o-r " + path;
  }
  return {};
}

/// Tells of a failure at `key`, which is in the file at `path`.
TlsFailure FailedAt(const char* key, const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) {
    ERR_clear_error();
    return {key, "can't read " + path + ": " + std::strerror(errno)};
  }
  return {key, path + ": " + Reason() + " (a PEM file is asked for)"};
}

/// Tells why the key was not taken.
TlsFailure KeyRefused(const TlsFiles& files) {
  const unsigned long error = ERR_peek_last_error();
  const int reason = ERR_GET_LIB(error) == ERR_LIB_X509 ? ERR_GET_REASON(error) : 0;
  if (reason != X509_R_KEY_VALUES_MISMATCH && reason != X509_R_KEY_TYPE_MISMATCH) {
    return FailedAt("key", files.key);
  }
  ERR_clear_error();
  return {"key", files.key + " is not the key of " + files.certificate};
}

/// Why the certificate does not count at present; empty: it does.
std::string WhyNotValid(const X509* certificate) {
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) return "has ended";
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) return "has not begun";
  return {};
}

void AddNames(X509* certificate, std::vector<std::string>* names) {
  auto* const all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all, i);
    if (name->type != GEN_DNS) continue;
    const auto* const text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
    names->emplace_back(text, static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  GENERAL_NAMES_free(all);
}

int64_t SecondsOf(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0;
}

}  // namespace

std::variant<Tls, TlsFailure> LoadTls(const TlsFiles& files) {
  Tls made;
  if (auto failure = CheckMode(files.key, &made.warning)) return *std::move(failure);
  made.context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const context = made.context->native_handle();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  if (SSL_CTX_set_cipher_list(context, kCiphers) != 1) {
    return TlsFailure{"certificate", "OpenSSL has none of the ciphers " + std::string(kCiphers)};
  }
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_id_context(context, kSessionContext.data(), kSessionContext.size());
  // A key with a password would ask for it on the terminal.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return -1; });
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return FailedAt("certificate", files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return KeyRefused(files);
  }
  if (!files.client_ca.empty()) {
    if (SSL_CTX_load_verify_locations(context, files.client_ca.c_str(), nullptr) != 1) {
      return FailedAt("client_ca", files.client_ca);
    }
    // A resumed session brings the client's certificate without those between it and its authority:
    // it could not be judged again when the authorities are replaced (Stream::IsTrusted).
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(files.client_ca.c_str()));
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  X509* const certificate = SSL_CTX_get0_certificate(context);
  AddNames(certificate, &made.names);
  made.expires_s = SecondsOf(X509_get0_notAfter(certificate));
  made.not_valid = WhyNotValid(certificate);
  return made;
}

}  // namespace seendb::http
