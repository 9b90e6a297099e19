// tests/model/cluster/real.h: the decisions of a cluster's nodes, as the server makes them. The
// model calls the server's own functions; what they answer is kept, since exploring asks the same
// questions millions of times.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/meta.h"
#include "cluster/view.h"
#include "model/cluster/table.h"

namespace seendb::cluster_model {

/// "n0".
std::string NameOf(int node);
/// The node of that name.
int NumberOf(const std::string& name);

// ---- What the cluster is ----

/// A record of X.meta behind those that made the cluster. 0: nothing is there.
///
/// A placement: 0x80, and 2 bits of the change that it goes by (kFirstPlacement, or the position of
/// another record + 1), the partition, and 2 bits each of whence and whither a replica moves.
using Change = uint8_t;
inline constexpr Change kPlacement = 0x80;
inline constexpr Change kMadeAgain = 1;  ///< the collection is deleted and made
inline constexpr Change kUpgraded = 2;   ///< log records of version 2 may be written
inline constexpr int kChanges = 3;       ///< most

/// Moves one replica of `partition`; `base`: 0 is the first placement, else the position of the
/// record of the newest one + 1.
constexpr Change MoveOf(int base, int partition, int from, int to) {
  return static_cast<Change>(kPlacement | base << 5 | partition << 4 | from << 2 | to);
}

/// The records that make the cluster: three members, two partitions, {n0, n1} and {n1, n2}.
struct Made {
  bool has_past = false;    ///< it is made from a database
  uint8_t readers = 7;      ///< the nodes that read log records of version 2; a bit each
  uint8_t log_version = 2;  ///< that nodes may write from the start
  auto operator<=>(const Made&) const = default;
};
using Changes = std::array<Change, kChanges>;

/// The fold of the records that made it, and of the first `read` changes: cluster::Meta::Apply.
const cluster::Meta& FoldOf(const Made& made, const Changes& changes, int read);
/// Whether the change at this position counted.
bool Counted(const Made& made, const Changes& changes, int at);
/// Which record the placement in force is of: as `base` of MoveOf.
int BaseOf(const cluster::Meta& meta);
/// Up to which offset X.meta was read by a node that has read so many changes.
int64_t OffsetBehind(int read);

// ---- Records of the log ----

/// The collection that is made again.
inline constexpr char kCollection[] = "video";
/// A record's header after it went through the log: how many changes its writer had read,
/// or -1: it is of version 1. cluster::CheckMayWrite, EncodeLogHeader and DecodeLogHeader.
int ThroughTheLog(uint32_t log_version, int read);
/// Whether a play counts at a node with this fold (replica/applier.cc, CheckCounts).
bool PlayCounts(const cluster::Meta& meta, int written_at);

// ---- Views ----

/// A node's answer to a probe: its replica of partition 0, and itself.
struct Said {
  uint8_t known = 0;    ///< it was ever asked
  uint8_t up = 0;       ///< the newest probe was answered
  uint8_t opening = 0;  ///< it does not say what lies on its disk
  uint8_t replica = 0;  ///< see Standing
  uint8_t next = 0;     ///< offset to be applied next
  uint8_t cut_off = 0;
  uint8_t read = 0;         ///< changes of X.meta that it has read
  uint8_t incarnation = 0;  ///< counts its starts
  friend bool operator==(const Said&, const Said&) = default;
};
/// How a replica is: of those that are open, cluster::StateOfOpen says what that is called.
enum Standing : uint8_t { kNone, kCatchingUp, kServing, kBehind };
using Views = std::array<Said, kNodes>;

/// The same in the server's types. `at_ms`: when each node answered.
std::map<std::string, cluster::NodeView> ViewsOf(const Views& views,
                                                 const std::array<int64_t, kNodes>& at_ms = {});

}  // namespace seendb::cluster_model
