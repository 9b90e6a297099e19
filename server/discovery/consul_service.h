// server/discovery/consul_service.h: what Consul is to know of this server: the body of
// PUT /v1/agent/service/register of its agent's API.

#pragma once

#include <string>

#include "ops/consul_config.h"
#include "seendb/status.h"

namespace seendb::discovery {

/// The address of a server.
struct Listening {
  std::string address;  ///< "host:port", IPv6 in brackets; the host may stand for all addresses
  bool secure = false;  ///< with TLS
};

/// One entry of the catalog.
struct ConsulService {
  std::string id;    ///< unique among those of the agent
  std::string json;  ///< the body
};

/// The entry of a server of `version` on the machine `host`. Without a setting that says otherwise,
/// clients are told where the server listens; of one that listens on all addresses the port alone,
/// and Consul adds its agent's address. The agent's check goes to the same place, on the loopback
/// interface where the server listens on all. kInvalidArgument: `listening` is no address.
Result<ConsulService> MakeConsulService(const ops::ConsulConfig& config, const Listening& listening,
                                        const std::string& host, const std::string& version);

}  // namespace seendb::discovery
