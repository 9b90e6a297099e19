#include "cluster/node_report.h"

#include <array>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "base/utf8.h"

namespace seendb::cluster {
namespace {

using Json = nlohmann::ordered_json;

/// One replica; false: it is none.
bool ReadReplica(const Json& json, NodeReport* report) {
  const auto partition = json.at("partition").get<uint32_t>();
  const auto state = ReplicaStateOf(json.at("state").get<std::string>());
  ReplicaReport replica;
  replica.next_offset = json.at("next_offset").get<int64_t>();
  replica.behind_ms = json.at("behind_ms").get<int64_t>();
  if (json.contains("old_store")) {
    const auto offsets = json.at("old_store").get<std::array<int64_t, 2>>();
    replica.old_from = offsets[0];
    replica.old_to = offsets[1];
  }
  if (!state || partition >= kPartitionsMost || replica.next_offset < 0 || replica.behind_ms < 0 ||
      replica.old_from < 0 || replica.old_to < 0) {
    return false;
  }
  replica.state = *state;
  replica.cut_off = json.contains("cut_off") && json.at("cut_off").get<bool>();
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
  Json json{{"node", node},
            {"incarnation", report.incarnation},
            {"build", report.build},
            {"now_ms", report.now_ms},
            {"meta_offset", report.meta_offset},
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
    report.incarnation = json.at("incarnation").get<std::string>();
    report.build = json.at("build").get<std::string>();
    report.now_ms = json.at("now_ms").get<int64_t>();
    report.meta_offset = json.at("meta_offset").get<int64_t>();
    report.stopping = json.at("stopping").get<bool>();
    for (const Json& replica : json.at("replicas")) {
      if (!ReadReplica(replica, &report)) return bad;
    }
    for (const Json& partition : json.value("none", Json::array())) {
      if (!partition.is_number_unsigned() || partition >= kPartitionsMost) return bad;
      report.none.insert(partition.get<uint32_t>());
    }
  } catch (const std::exception&) {
    return bad;
  }
  return report;
}

}  // namespace seendb::cluster
