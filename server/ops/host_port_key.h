// server/ops/host_port_key.h: settings that are addresses.

#pragma once

#include <string>

#include "ops/config_keys.h"

namespace seendb::ops {

/// "host:port", IPv6 in brackets.
Setter HostPort(std::string* to);

}  // namespace seendb::ops
