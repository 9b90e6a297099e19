// server/http/tls.h: certificates and keys as files, and what a listener makes of them.
//
// TLS 1.2 and later; no renegotiation and no compression. Source of the settings: OpenSSL's manual
// pages (SSL_CTX_set_options, SSL_CTX_set_verify).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include "http/tls_files.h"

namespace seendb::http {

/// What new connections are made with. Sessions share it.
using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

/// The files, read and found to fit.
struct Tls {
  TlsContext context;
  std::vector<std::string> names;  ///< DNS names that the certificate is for; "*.name" as it is
  int64_t expires_s = 0;           ///< when the certificate ends, in seconds since 1970
  std::string warning;             ///< of the key's file; empty: there is none
  std::string not_valid;           ///< why the certificate does not count now; empty: it does
};

/// What is wrong with the files: `key` is the setting's name.
struct TlsFailure {
  std::string key;
  std::string message;
};

/// Reads the files. A key that others can write is refused; one that others can read is warned of.
/// Threads: any.
std::variant<Tls, TlsFailure> LoadTls(const TlsFiles& files);

}  // namespace seendb::http
