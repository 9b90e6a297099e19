// server/ops/consul_config.h: the setting "consul": whether clients find this server by its name in
// a Consul catalog.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/config_keys.h"

namespace seendb::ops {

/// The setting "consul". Defaults as documented in server/doc/settings.md.
struct ConsulConfig {
  std::string url = "http://127.0.0.1:8500";  ///< of the agent, "http://host:port" or https
  std::string ca;                  ///< PEM; whom to trust as the agent; empty: the system's
  std::string token_file;          ///< holds the agent's token; empty: none is sent
  std::string service = "seendb";  ///< the name that clients look for
  std::string id;         ///< of this server; empty: the service's name, the host's and the port
  std::string advertise;  ///< "host:port" for clients; empty: where the server listens
  std::string check;      ///< "host:port" for the agent's check; empty: where the server listens
  bool check_connects = false;  ///< the check only connects; otherwise it asks /readyz
  std::vector<std::string> tags;
  uint32_t check_interval_s = 10;
  uint32_t forget_after_s = 600;  ///< a server whose check fails for so long is taken out
};

/// The section.
Setter Consul(std::optional<ConsulConfig>* to);

}  // namespace seendb::ops
