// dns.h: questions to a name server, by the C library's resolver.

#pragma once

#include <string>
#include <vector>

#include "seendb/client_types.h"

namespace seendb::client::internal {

/// A name server: "address:port" of IPv4; empty: the system's.
class NameServer {
 public:
  /// Throws Error (invalid_argument, "/dns").
  explicit NameServer(const std::string& place);

  /// The SRV records of a name. Blocks, for some seconds at most. Throws std::runtime_error.
  std::vector<SrvRecord> Records(const std::string& name) const;
  /// The first IPv4 address of a host. Returns `host` where that is not known, or where the system
  /// is to look it up.
  std::string AddressOf(const std::string& host) const;

 private:
  std::string address_;  // empty: the system's
  uint16_t port_ = 0;
};

}  // namespace seendb::client::internal
