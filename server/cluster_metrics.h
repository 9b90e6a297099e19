// server/cluster_metrics.h: what /metrics tells of a node's replicas and of its cluster.

#pragma once

#include "membership/node.h"
#include "ops/metrics.h"
#include "replica/replicas.h"

namespace seendb {

/// Fills `to->cluster`, and how long the log keeps what is applied next; nothing before the
/// replicas are started. Threads: any.
void FillCluster(const membership::Node& node, const replica::Replicas& replicas,
                 ops::MetricsSnapshot* to);

}  // namespace seendb
