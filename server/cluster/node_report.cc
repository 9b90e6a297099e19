#include "cluster/node_report.h"

#include <array>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "base/utf8.h"

namespace seendb::cluster {
namespace {

using Json = nlohmann::ordered_json;

/// One replica; false: it is none. A state that is not known here is a newer node's: the replica is
/// passed over, so nobody reads there, and the rest of the report counts.
bool ReadReplica(const Json& json, NodeReport* report) {
  const auto partition = json.at("partition").get<uint32_t>();
  const auto state = ReplicaStateOf(json.at("state").get<std::string>());
  ReplicaReport replica;
  replica.next_offset = json.value("next_offset", int64_t{0});
  replica.behind_ms = json.value("behind_ms", int64_t{0});
  if (json.contains("old_store")) {
    const auto offsets = json.at("old_store").get<std::array<int64_t, 2>>();
    replica.old_from = offsets[0];
    replica.old_to = offsets[1];
  }
  if (partition >= kPartitionsMost || replica.next_offset < 0 || replica.behind_ms < 0 ||
      replica.old_from < 0 || replica.old_to < 0) {
    return false;
  }
  if (!state) return true;
  replica.state = *state;
  replica.cut_off = json.value("cut_off", false);
  if (const auto copy = json.find("copy"); copy != json.end()) {
    replica.copy = {copy->at("bytes").get<uint64_t>(), copy->at("total").get<uint64_t>(),
                    copy->at("bytes_per_s").get<uint64_t>()};
  }
  return report->replicas.emplace(partition, replica).second;
}

}  // namespace

Json CopyProgressToJson(const CopyProgress& copy) {
  return {{"bytes", copy.bytes}, {"total", copy.total}, {"bytes_per_s", copy.bytes_per_s}};
}

std::string NodeReportToJson(const std::string& node, const NodeReport& report) {
  Json json{{"version", kNodeReportVersion},     {"node", node},
            {"incarnation", report.incarnation}, {"build", report.build},
            {"now_ms", report.now_ms},           {"meta_offset", report.meta_offset},
            {"stopping", report.stopping}};
  json["replicas"] = Json::array();
  for (const auto& [partition, replica] : report.replicas) {
    Json& one = json["replicas"].emplace_back(Json{{"partition", partition},
                                                   {"state", ReplicaStateName(replica.state)},
                                                   {"next_offset", replica.next_offset},
                                                   {"behind_ms", replica.behind_ms}});
    if (replica.cut_off) one["cut_off"] = true;
    if (replica.old_to > 0) one["old_store"] = {replica.old_from, replica.old_to};
    if (replica.copy) one["copy"] = CopyProgressToJson(*replica.copy);
  }
  json["none"] = report.none;
  return json.dump();
}

Result<NodeReport> NodeReportFromJson(std::string_view text, std::string_view node) {
  const Status bad = Status::InvalidArgument("no report of a node");
  if (text.size() > kNodeReportBytesMost) return bad;
  const Json json = ParseOutside<Json>(text);
  if (!json.is_object()) return bad;
  NodeReport report;
  try {
    const auto name = json.at("node").get<std::string>();
    if (name != node) {
      return Status::Incompatible("the node " + std::string(Utf8Prefix(name, 64)) +
                                  " answers, not " + std::string(node));
    }
    report.incarnation = json.value("incarnation", report.incarnation);
    report.build = json.value("build", report.build);
    report.now_ms = json.value("now_ms", report.now_ms);
    report.meta_offset = json.value("meta_offset", report.meta_offset);
    report.stopping = json.value("stopping", report.stopping);
    const Json replicas = json.value("replicas", Json::array());
    for (const Json& replica : replicas) {
      if (!ReadReplica(replica, &report)) return bad;
    }
    const Json none = json.value("none", Json::array());
    for (const Json& partition : none) {
      if (!partition.is_number_unsigned() || partition >= kPartitionsMost) return bad;
      report.none.insert(partition.get<uint32_t>());
    }
  } catch (const std::exception&) {
    return bad;
  }
  return report;
}

}  // namespace seendb::cluster
