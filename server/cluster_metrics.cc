#include "cluster_metrics.h"

#include <algorithm>
#include <array>
#include <string>

namespace seendb {

void FillCluster(const membership::Node& node, const replica::Replicas& replicas,
                 ops::MetricsSnapshot* to) {
  using cluster::ReplicaState;
  if (!replicas.is_started()) return;
  if (to->moves) to->moves->log_margin_ms = replicas.LogMarginMs();
  ops::ClusterCounts& counts = to->cluster.emplace();
  for (const ReplicaState state : {ReplicaState::kFetching, ReplicaState::kCatchingUp,
                                   ReplicaState::kServing, ReplicaState::kBehind}) {
    counts.replicas_by_state.emplace_back(cluster::ReplicaStateName(state), 0);
  }
  for (const auto& [partition, report] : replicas.Report()) {
    ++counts.replicas_by_state[static_cast<size_t>(report.state)].second;
    counts.cut_off += report.cut_off ? 1 : 0;
    counts.behind_ms = std::max(counts.behind_ms, report.behind_ms);
  }
  counts.append_failures = replicas.AppendFailures();
  counts.leaderless = node.Leaderless().size();
  for (const auto& [name, view] : node.AllViews()) {
    const bool other = name != node.config().node;
    if (!other || view.health.state() != cluster::NodeState::kUp) continue;
    counts.clocks_ahead_ms.emplace_back(name, view.clock_ahead_ms);
  }
}

}  // namespace seendb
