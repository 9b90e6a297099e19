// server/cluster/meta.h: what a cluster is: the fold of the records of `X.meta`, in order.
//
// A pure function of the records: every node that has read the same records has the same fold.
// Rules: server/doc/cluster-format.md. Threads: a plain value.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/meta_record.h"
#include "seendb/policy.h"
#include "seendb/status.h"

namespace seendb::cluster {

inline constexpr size_t kMembersMost = 1'024;
inline constexpr size_t kCollectionsMost = 10'000;
/// Most names that are kept of the nodes that placements have ever named for a partition.
inline constexpr size_t kNamedMost = 64;
/// Stands among these names for nodes whose names are not kept. No node has this name.
inline constexpr std::string_view kOtherNodes = "";

/// A node of the cluster.
struct Member {
  std::string url, zone;
  double weight = 1;
  std::string build;
  bool leaving = false;      ///< new placements leave it out
  uint32_t log_version = 1;  ///< the newest of log records that it reads
  bool operator==(const Member&) const = default;
};

/// The placement in force.
struct Placement {
  int64_t offset = -1;  ///< of its record; -1: there is none yet
  Assignment assign;
  bool operator==(const Placement&) const = default;
};

/// A collection as all nodes know it.
struct MetaCollection {
  Policy policy;
  /// When it was made. Of log records of version 1, events and commands that arrived not after it
  /// do not count.
  int64_t made_at_ms = 0;
  /// Offset of the record that made it: it tells the collections of one name apart, and which log
  /// records of version 2 count. 0: the cluster was made with it.
  int64_t made_by = 0;
  bool operator==(const MetaCollection&) const = default;
};

/// See the head of this file.
class Meta {
 public:
  /// Takes the next record. kInvalidArgument: it does not count, for the reason given; the fold has
  /// passed it. kIncompatible: this software can't tell what it means; nothing has changed, and
  /// nothing behind it may be read. A record before next_offset() was taken before: no effect.
  Status Apply(int64_t offset, std::string_view record);

  /// The offset to read next.
  int64_t next_offset() const { return next_offset_; }
  /// Nothing until the cluster was made.
  const std::optional<InitRecord>& init() const { return init_; }
  const std::map<std::string, Member>& members() const { return members_; }
  const Placement& placement() const { return placement_; }
  const std::map<std::string, MetaCollection>& collections() const { return collections_; }
  /// The newest version of log records that nodes may write.
  uint32_t log_version() const { return log_version_; }
  /// Whether a list of the placement names the node.
  bool Holds(std::string_view node) const;
  /// All nodes that a placement names for the partition, or has ever named: each may have a replica
  /// of it, members or not. With kOtherNodes where not all names are known.
  const std::set<std::string>& EverNamed(uint32_t partition) const;

  /// The fold as JSON, for a cache.
  std::string ToJson() const;
  /// Reads it. kCorruption: it is none, or not whole.
  static Result<Meta> FromJson(std::string_view json);

  bool operator==(const Meta&) const = default;  ///< all members

 private:
  Status Take(const InitRecord& record, int64_t offset);
  Status Take(const MemberRecord& record, int64_t offset);
  Status Take(const PlacementRecord& record, int64_t offset);
  Status Take(const CollectionRecord& record, int64_t offset);
  Status Take(const CollectionGoneRecord& record, int64_t offset);
  Status Take(const LeaveRecord& record, int64_t offset);
  Status Take(const LogVersionRecord& record, int64_t offset);
  void NoteNamed();

  int64_t next_offset_ = 0;
  std::optional<InitRecord> init_;
  std::map<std::string, Member> members_;
  Placement placement_;
  std::vector<std::set<std::string>> ever_named_;  // by partition; empty: there was no placement
  std::map<std::string, MetaCollection> collections_;
  uint32_t log_version_ = 1;
};

}  // namespace seendb::cluster
