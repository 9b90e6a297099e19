// net/client_tls.h: what a client checks and shows under TLS, made of files once for any number of
// connections.
//
//   auto made = MakeTlsContext({.ca = "ca.pem"});
//   ssl::stream<tcp::socket> stream(io, **made);
//   ExpectPeer(stream.native_handle(), "10.0.0.2");     // before the handshake
//   stream.handshake(client, error);
//   if (error) text = HandshakeFailure(stream.native_handle(), error, "");

#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>

#include "seendb/status.h"

namespace seendb::net {

/// Whom a client trusts under TLS, and what it shows.
struct TlsFiles {
  std::string ca = {};           ///< a file of certificates to trust, PEM; empty: the system's
  std::string certificate = {};  ///< a file of the client's own certificate; empty: none
  std::string key = {};          ///< a file of its key; empty: it is in `certificate`
  /// Where the caller names `ca`, for the message that a certificate is refused.
  std::string named_by = {};
};

/// Connections that use it share it. Threads: any.
using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

/// TLS 1.2 and later; the peer has to show a certificate of one whom `files` trusts.
/// kInvalidArgument: a file is not what it should be, by name; `field` is its member of TlsFiles
/// ("/ca").
Result<TlsContext> MakeTlsContext(const TlsFiles& files);

/// The handshake fails unless the peer's certificate is for `host`, a name or an address.
void ExpectPeer(SSL* connection, const std::string& host);

/// Why a handshake failed, for people: what is wrong with the peer's certificate, where that is it.
std::string HandshakeFailure(SSL* connection, const boost::system::error_code& error,
                             const std::string& named_by);

}  // namespace seendb::net
