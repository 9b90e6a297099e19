// server/discovery/consul_agent.h: the calls of a Consul agent's HTTP API that a service needs
// (developer.hashicorp.com/consul/api-docs/agent/service).

#pragma once

#include <string>

#include "discovery/consul_service.h"
#include "net/http_connection.h"
#include "ops/consul_config.h"

namespace seendb::discovery {

/// See the head of this file. Each call has 2 seconds for each step, and reads the token,
/// the first line of its file, anew. kUnavailable: no answer, or one of another kind; the message
/// says what the agent said. Threads: one.
class ConsulAgent {
 public:
  /// Precondition: the settings were checked.
  explicit ConsulAgent(const ops::ConsulConfig& config);

  /// Makes the entry, or replaces the one with its id.
  Status Register(const ConsulService& service);
  /// Whether the agent has an entry with the id.
  Result<bool> Has(const std::string& id);
  /// Takes it out; one that is not there is no error.
  Status Deregister(const std::string& id);

 private:
  struct Answer {
    unsigned status = 0;
    std::string body;
  };
  Result<Answer> Ask(const char* method, const std::string& target, const std::string& body);
  Status Done(const Result<Answer>& answer) const;

  const net::StreamTarget target_;
  const std::string token_file_;
  net::HttpConnection connection_;
};

}  // namespace seendb::discovery
