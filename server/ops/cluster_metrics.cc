// The metrics of a node of a cluster: how its replicas are, who leads, what clocks say.

#include <utility>

#include "ops/metric_family.h"
#include "ops/metrics.h"

namespace seendb::ops {

using prometheus::MetricFamily;
using prometheus::MetricType;

void CollectCluster(const MetricsSnapshot& s, std::vector<MetricFamily>* families) {
  if (!s.cluster) return;
  const auto family = [&](const char* name, const char* help, MetricType type) {
    return &families->emplace_back(MakeFamily(name, help, type));
  };
  MetricFamily* const replicas = family(
      "seendb_cluster_replicas", "Replicas held here or fetched, by state.", MetricType::Gauge);
  for (const auto& [state, count] : s.cluster->replicas_by_state) {
    AddValue(replicas, {{"state", state}}, static_cast<double>(count));
  }
  AddValue(family("seendb_cluster_replicas_cut_off", "Replicas whose node has no way to their log.",
                  MetricType::Gauge),
           {}, static_cast<double>(s.cluster->cut_off));
  AddValue(family("seendb_cluster_leaderless_partitions",
                  "Partitions that no node leads, as this one sees the others: nobody can write to "
                  "them.",
                  MetricType::Gauge),
           {}, static_cast<double>(s.cluster->leaderless));
  AddValue(
      family("seendb_cluster_behind_seconds",
             "How long ago the replica that is most behind had all of its log.", MetricType::Gauge),
      {}, static_cast<double>(s.cluster->behind_ms) / 1'000);
  AddValue(family("seendb_cluster_append_failures_total",
                  "Records, ticks among them, that the log did not take from this node.",
                  MetricType::Counter),
           {}, static_cast<double>(s.cluster->append_failures));
  MetricFamily* const clocks =
      family("seendb_cluster_clock_offset_seconds",
             "By how much another node's clock is surely ahead of this one's.", MetricType::Gauge);
  for (const auto& [node, ahead_ms] : s.cluster->clocks_ahead_ms) {
    AddValue(clocks, {{"node", node}}, static_cast<double>(ahead_ms) / 1'000);
  }
}

}  // namespace seendb::ops
