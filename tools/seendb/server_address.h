// seendb/server_address.h: where a server listens, and what it is shown.

#pragma once

#include <string>
#include <string_view>

#include "seendb/status.h"

namespace seendb::tool {

/// Where a server listens.
struct ServerAddress {
  std::string host = {};
  std::string port = "7373";
  std::string prefix = {};     ///< path in front of every route, without a slash at its end
  bool secure = false;         ///< https
  std::string unix_path = {};  ///< a socket of the file system, in place of host and port

  /// What stands in the Host header: "host:port", or "localhost" for a socket.
  std::string Authority() const;
  /// As ParseServerUrl reads it, without the prefix.
  std::string ToUrl() const;
};

/// Reads "http://HOST[:PORT][/PREFIX]", the same with https, or "unix:PATH"; HOST may be a
/// bracketed IPv6 address. kInvalidArgument, whose message begins with `named_by`: the flag or
/// variable that the URL is from.
Result<ServerAddress> ParseServerUrl(std::string_view url, std::string_view named_by = "--url");

/// What a client shows, and whom it trusts.
struct Credentials {
  std::string token = {};        ///< sent as a bearer token; empty: none
  std::string ca = {};           ///< a file of certificates to trust, PEM; empty: the system's
  std::string certificate = {};  ///< a file of the client's own certificate and key; empty: none
};

/// The token in a file: its first line. kIOError; kInvalidArgument: it holds none.
Result<std::string> ReadTokenFile(const std::string& path);

}  // namespace seendb::tool
