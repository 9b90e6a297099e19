// server/cluster/node_report.h: what a node tells the others of itself, as JSON: the answer to a
// probe (GET /internal/status).
//
//   {"node":"n1","incarnation":"5f3a","build":"0.1.0","now_ms":1773144000000,"meta_offset":7,
//    "stopping":false,
//    "replicas":[{"partition":0,"state":"serving","next_offset":5,"behind_ms":3}]}
//
// "none":[1,2] names the partitions of which it has nothing: a partition that is named nowhere may
// lie on its disk. A replica without a way to its log has "cut_off":true; one whose copy is on its
// way has "copy":{"bytes":5,"total":9,"bytes_per_s":2} too. Members that are not known are passed
// over: nodes of different versions probe each other.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cluster/view.h"
#include "seendb/status.h"

namespace seendb::cluster {

/// Most bytes of an answer: kPartitionsMost replicas.
inline constexpr size_t kNodeReportBytesMost = 1u << 20;

/// The "version" that nodes of today write. It grows with what is added; what a member means stays.
inline constexpr int kNodeReportVersion = 1;

/// {"bytes":5,"total":9,"bytes_per_s":2}
nlohmann::ordered_json CopyProgressToJson(const CopyProgress& copy);
/// The report of the node `node`.
std::string NodeReportToJson(const std::string& node, const NodeReport& report);
/// Reads the report of the node `node`. Nodes of two versions read each other: "node" alone must be
/// there; another member that is missing is its default, and one that is not known here is passed
/// over. kInvalidArgument: it is no report. kIncompatible: another node answers at that address.
Result<NodeReport> NodeReportFromJson(std::string_view json, std::string_view node);

}  // namespace seendb::cluster
