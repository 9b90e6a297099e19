// server/router_node.h: the node of a cluster, as its router sees it, and what it says of its
// shards.

#pragma once

#include "api/context.h"
#include "membership/node.h"
#include "replica/replicas.h"
#include "router/node.h"

namespace seendb {

/// Borrows both.
router::RouterNode RouterNodeOf(membership::Node* node, replica::Replicas* replicas);

/// The node says which shards it has nothing of, and begins one empty when it is told to. Borrows
/// the replicas.
void TellOfLackingShards(replica::Replicas* replicas, membership::Node* node, api::ClusterView* to);

}  // namespace seendb
