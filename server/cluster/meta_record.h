// server/cluster/meta_record.h: the records of a cluster's topic `X.meta`, to and from JSON.
// Members and rules: server/doc/cluster-format.md.
//
// Pure functions. Threads: any.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "seendb/policy.h"
#include "seendb/status.h"

namespace seendb::cluster {

inline constexpr size_t kMetaBytesMost = 1'000'000;  ///< of one record
inline constexpr uint32_t kPartitionsMost = 1'024;
inline constexpr uint32_t kReplicasMost = 16;
inline constexpr double kWeightMost = 1'000;

/// Which nodes hold each partition, the primary first; the position is the partition.
using Assignment = std::vector<std::vector<std::string>>;

/// The cluster was made.
struct InitRecord {
  std::string uuid = {};  ///< of the databases
  uint32_t partitions = 0, replicas = 0;
  uint32_t hash = 2;                  ///< how items become fingerprints
  std::string key = {};               ///< of hash 2: 32 hex digits; else empty
  int64_t at_ms = 0;                  ///< 0: it was made from a database, which is older
  std::string default_policy = "{}";  ///< a patch of the policy of `default`, as JSON
  uint32_t log_version = 1;           ///< of log records that nodes may write from the start
  /// Whether databases that are older than the cluster belong to it: the log has no part of what
  /// they hold.
  bool has_past() const { return at_ms == 0; }
  bool operator==(const InitRecord&) const = default;
};

/// A node is there, or its address changed.
struct MemberRecord {
  std::string node = {}, url = {};
  std::string zone = {};  ///< replicas of a partition lie in different ones
  double weight = 1;
  std::string build = {};    ///< of the node's software
  bool rejoin = false;       ///< takes back a leave
  uint32_t log_version = 1;  ///< the newest of log records that it reads
  bool operator==(const MemberRecord&) const = default;
};

/// Who holds what from now on.
struct PlacementRecord {
  int64_t base = -1;  ///< offset of the placement that this one replaces; -1: there was none
  Assignment assign;
  bool operator==(const PlacementRecord&) const = default;
};

/// A collection is made, or its policy changes.
struct CollectionRecord {
  std::string name;
  std::string patch = "{}";  ///< of its policy, as JSON
  int64_t at_ms = 0;
  bool operator==(const CollectionRecord&) const = default;
};

/// A collection is deleted with all that it holds.
struct CollectionGoneRecord {
  std::string name;
  int64_t at_ms = 0;
  bool operator==(const CollectionGoneRecord&) const = default;
};

/// A node is to leave; the second time, it has left.
struct LeaveRecord {
  std::string node;
  bool operator==(const LeaveRecord&) const = default;
};

/// The newest version of log records that nodes may write.
struct LogVersionRecord {
  uint32_t version = 0;
  bool operator==(const LogVersionRecord&) const = default;
};

using MetaRecord = std::variant<InitRecord, MemberRecord, PlacementRecord, CollectionRecord,
                                CollectionGoneRecord, LeaveRecord, LogVersionRecord>;

/// The record's kind ("placement").
std::string_view MetaKindName(const MetaRecord& record);

/// The record as JSON on one line.
std::string EncodeMeta(const MetaRecord& record);

/// Reads a record. kIncompatible: its version, its kind or a member is not known to this software,
/// which must not skip it. kInvalidArgument (field: the member): no version writes this.
Result<MetaRecord> DecodeMeta(std::string_view json);

/// kInvalidArgument unless `name` can be a node's or a zone's: 1-253 letters, digits, '.', '-' and
/// '_', the first a letter or a digit.
Status CheckNodeName(std::string_view name);
/// kInvalidArgument unless `url` is "http://host:port" or "https://host:port".
Status CheckNodeUrl(std::string_view url);

}  // namespace seendb::cluster
