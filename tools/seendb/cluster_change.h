// seendb/cluster_change.h: the commands that change who holds what in a cluster.

#pragma once

#include "session.h"

namespace seendb::tool {

/// Adds `rebalance`, `add`, `remove`, `move` and `begin-empty` below `group`.
void AddClusterChanges(Command group, Session& session);

}  // namespace seendb::tool
