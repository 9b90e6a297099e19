#include "cluster/report.h"

#include <cassert>

#include <nlohmann/json.hpp>

#include "cluster/node_report.h"

namespace seendb::cluster {
namespace {

using Json = nlohmann::ordered_json;
using NodeViews = std::map<std::string, NodeView>;

Json NodeJson(const std::string& name, const Member& member, const NodeViews* nodes) {
  Json json{{"node", name}, {"url", member.url}, {"zone", member.zone}};
  json["weight"] = member.weight;
  if (nodes != nullptr) {
    const auto known = nodes->find(name);
    const NodeState state = known == nodes->end() ? NodeState::kDown : known->second.health.state();
    json["state"] = NodeStateName(state);
  }
  json["build"] = member.build;
  json["log_version"] = member.log_version;
  if (member.leaving) json["leaving"] = true;
  return json;
}

Json ReplicasJson(uint32_t partition, const Meta& meta, const NodeViews* nodes) {
  Json list = Json::array();
  if (nodes == nullptr) {
    for (const std::string& node : meta.placement().assign[partition]) {
      list.push_back({{"node", node}});
    }
    return list;
  }
  for (const ReplicaView& replica : ReplicasOf(partition, meta, *nodes)) {
    Json json{{"node", replica.node}, {"state", ReplicaStateName(replica.report.state)}};
    if (replica.report.state != ReplicaState::kUnreachable) {
      json["next_offset"] = replica.report.next_offset;
      json["behind_ms"] = replica.report.behind_ms;
      if (replica.report.cut_off) json["cut_off"] = true;
      if (replica.report.copy) json["copy"] = CopyProgressToJson(*replica.report.copy);
    }
    if (!replica.wanted) json["leaving"] = true;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string ClusterToJson(const std::string& name, const Meta& meta, const NodeViews* nodes,
                          const std::string& brokers) {
  assert(meta.init());
  Json json{{"name", name},
            {"partitions", meta.init()->partitions},
            {"replicas", meta.init()->replicas},
            {"placement_offset", meta.placement().offset},
            {"log_version", meta.log_version()}};
  if (!brokers.empty()) json["brokers"] = brokers;
  json["nodes"] = Json::array();
  for (const auto& [node, member] : meta.members()) {
    json["nodes"].push_back(NodeJson(node, member, nodes));
  }
  json["shards"] = Json::array();
  for (uint32_t p = 0; p < meta.placement().assign.size(); ++p) {
    json["shards"].push_back({{"partition", p}, {"replicas", ReplicasJson(p, meta, nodes)}});
  }
  return json.dump();
}

}  // namespace seendb::cluster
