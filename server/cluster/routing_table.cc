#include "cluster/routing_table.h"

#include <algorithm>

namespace seendb::cluster {

RoutingTable::RoutingTable(const std::string& self, const Meta& meta,
                           const std::map<std::string, NodeView>& nodes, const RoutingTable* before)
    : placement_offset_(meta.placement().offset) {
  const auto url_of = [&meta](const std::string& node) {
    const auto found = meta.members().find(node);
    return found == meta.members().end() ? std::string() : found->second.url;
  };
  for (const auto& [node, view] : nodes) {
    if (node != self && view.health.state() == NodeState::kUp) up_[node] = url_of(node);
  }
  const uint32_t partitions = meta.init() ? meta.init()->partitions : 0;
  routes_.reserve(partitions);
  for (uint32_t partition = 0; partition < partitions; ++partition) {
    const std::vector<ReplicaView> replicas = ReplicasOf(partition, meta, nodes);
    const auto route_of = [&](size_t at) {
      const ReplicaView& replica = replicas[at];
      return Holder{replica.node, url_of(replica.node), replica.node == self,
                    replica.report.behind_ms};
    };
    PartitionRoutes& routes = routes_.emplace_back();
    const std::optional<size_t> leader = ActingPrimary(replicas);
    std::vector<size_t> order = ReadOrder(replicas);
    // Others that serve come later, though they be listed first: they may not lead, and the leader
    // has applied what was acknowledged.
    if (leader && replicas[*leader].report.state == ReplicaState::kServing) {
      std::stable_partition(order.begin(), order.end(), [&](size_t at) { return at == *leader; });
    }
    for (const size_t at : order) routes.reads.push_back(route_of(at));
    if (leader) {
      routes.leader = route_of(*leader);
      routes.taken_over = *leader != 0;
    }
    if (before == nullptr || partition >= before->partitions()) continue;
    const PartitionRoutes& was = before->of(partition);
    const auto name_of = [](const std::optional<Holder>& route) {
      return route ? route->node : std::string();
    };
    routes.term = was.term + (name_of(was.leader) == name_of(routes.leader) ? 0 : 1);
  }
}

}  // namespace seendb::cluster
