#include "cluster/node_report.h"

#include <array>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "base/utf8.h"

namespace seendb::cluster {
namespace {

using Json = nlohmann::ordered_json;

/// Thrown for a report that no node makes.
struct NoReport {};

uint64_t Whole(const Json& value, uint64_t most = INT64_MAX) {
  const auto number = WholeNumber(value, most);
  if (!number) throw NoReport{};
  return *number;
}

/// The number at `name`; 0 where it is missing.
uint64_t Whole(const Json& of, const char* name, uint64_t most = INT64_MAX) {
  const auto found = of.find(name);
  return found == of.end() ? 0 : Whole(*found, most);
}

int64_t WholeSigned(const Json& of, const char* name) {
  return static_cast<int64_t>(Whole(of, name));
}

uint32_t PartitionOf(const Json& value) {
  return static_cast<uint32_t>(Whole(value, kPartitionsMost - 1));
}

/// A replica whose state is not known here is a newer node's: it is passed over, so nobody reads
/// there, and the rest of the report counts.
void ReadReplica(const Json& json, NodeReport* report) {
  const uint32_t partition = PartitionOf(json.at("partition"));
  const auto state = ReplicaStateOf(json.at("state").get<std::string>());
  ReplicaReport replica;
  replica.next_offset = WholeSigned(json, "next_offset");
  replica.behind_ms = WholeSigned(json, "behind_ms");
  if (const auto old = json.find("old_store"); old != json.end()) {
    if (!old->is_array() || old->size() != 2) throw NoReport{};
    replica.old_from = static_cast<int64_t>(Whole(old->at(0)));
    replica.old_to = static_cast<int64_t>(Whole(old->at(1)));
  }
  if (!state) return;
  replica.state = *state;
  replica.cut_off = json.value("cut_off", false);
  if (const auto copy = json.find("copy"); copy != json.end()) {
    replica.copy = {Whole(*copy, "bytes", UINT64_MAX), Whole(*copy, "total", UINT64_MAX),
                    Whole(*copy, "bytes_per_s", UINT64_MAX)};
  }
  if (!report->replicas.emplace(partition, replica).second) throw NoReport{};
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
    report.now_ms = WholeSigned(json, "now_ms");
    report.meta_offset = WholeSigned(json, "meta_offset");
    report.stopping = json.value("stopping", report.stopping);
    const Json replicas = json.value("replicas", Json::array());
    for (const Json& replica : replicas) ReadReplica(replica, &report);
    const Json none = json.value("none", Json::array());
    for (const Json& partition : none) report.none.insert(PartitionOf(partition));
  } catch (const NoReport&) {
    return bad;
  } catch (const std::exception&) {
    return bad;
  }
  return report;
}

}  // namespace seendb::cluster
