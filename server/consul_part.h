// server/consul_part.h: the server's entry in Consul's catalog as a part of the process.

#pragma once

#include "discovery/registration.h"
#include "http/listener.h"
#include "ops/config.h"
#include "parts.h"

namespace seendb {

/// Threads: as Parts says.
class ConsulPart {
 public:
  /// Borrows both. Precondition: the settings have the section "consul".
  ConsulPart(const ops::Config& config, const http::Listener& listener);

  /// Behind all others in the list: clients find the server only while it serves.
  Part Row();

 private:
  void Start();

  const ops::Config& config_;
  const http::Listener& listener_;
  discovery::Registration registration_;
};

}  // namespace seendb
