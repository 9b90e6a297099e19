// seendb/cluster_upgrade.h: the command that ends an upgrade of a cluster's nodes.

#pragma once

#include "session.h"

namespace seendb::tool {

/// Adds `upgrade` below `group`.
void AddClusterUpgrade(Command group, Session& session);

}  // namespace seendb::tool
