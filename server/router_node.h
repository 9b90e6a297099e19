// server/router_node.h: the node of a cluster, as its router sees it.

#pragma once

#include "membership/node.h"
#include "replica/replicas.h"
#include "router/node.h"

namespace seendb {

/// Borrows both.
router::RouterNode RouterNodeOf(membership::Node* node, replica::Replicas* replicas);

}  // namespace seendb
