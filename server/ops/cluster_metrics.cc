// The metrics of a node of a cluster: how its replicas are, who leads, what clocks say.

#include <utility>

#include "ops/metric_rows.h"
#include "ops/metrics.h"

namespace seendb::ops {

using prometheus::MetricFamily;
using prometheus::MetricType;

namespace {

const MetricRow<ClusterCounts> kCluster[] = {
    {"seendb_cluster_replicas_cut_off", "Replicas whose node has no way to their log.", kGauge,
     MemberValue<&ClusterCounts::cut_off>},
    {"seendb_cluster_leaderless_partitions",
     "Partitions that no node leads, as this one sees the others: nobody can write to them.",
     kGauge, MemberValue<&ClusterCounts::leaderless>},
    {"seendb_cluster_behind_seconds",
     "How long ago the replica that is most behind had all of its log.", kGauge,
     MemberSeconds<&ClusterCounts::behind_ms>},
    {"seendb_cluster_append_failures_total",
     "Records, ticks among them, that the log did not take from this node.", kCounter,
     MemberValue<&ClusterCounts::append_failures>},
};

}  // namespace

void CollectCluster(const MetricsSnapshot& s, std::vector<MetricFamily>* families) {
  if (!s.cluster) return;
  MetricFamily replicas = MakeFamily("seendb_cluster_replicas",
                                     "Replicas held here or fetched, by state.", MetricType::Gauge);
  for (const auto& [state, count] : s.cluster->replicas_by_state) {
    AddValue(&replicas, {{"state", state}}, static_cast<double>(count));
  }
  families->push_back(std::move(replicas));
  AddRows(kCluster, *s.cluster, families);
  MetricFamily clocks = MakeFamily(
      "seendb_cluster_clock_offset_seconds",
      "By how much another node's clock is surely ahead of this one's.", MetricType::Gauge);
  for (const auto& [node, ahead_ms] : s.cluster->clocks_ahead_ms) {
    AddValue(&clocks, {{"node", node}}, static_cast<double>(ahead_ms) * 1e-3);
  }
  families->push_back(std::move(clocks));
}

}  // namespace seendb::ops
