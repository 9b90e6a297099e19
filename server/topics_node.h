// server/topics_node.h: what a node of a cluster goes by when it consumes the business's own
// topics.

#pragma once

#include "ingest/shard_topics.h"
#include "membership/node.h"
#include "replica/replicas.h"

namespace seendb {

/// Borrows both. `node` is open: what the cluster is is known.
ingest::ShardTopics ShardTopicsOf(membership::Node* node, replica::Replicas* replicas);

}  // namespace seendb
