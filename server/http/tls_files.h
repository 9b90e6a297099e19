// server/http/tls_files.h: where certificates and keys lie.

#pragma once

#include <string>

namespace seendb::http {

/// All of them PEM.
struct TlsFiles {
  std::string certificate;  ///< the server's certificate, then those that lead to the root
  std::string key;          ///< its private key, without a password
  std::string client_ca;    ///< clients must show a certificate of these; empty: they show none
};

}  // namespace seendb::http
