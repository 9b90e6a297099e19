// tests/model/cluster/log_world.h: the log of a cluster and its replicas. Writers append to a
// shard's log from any node that holds it, whoever it believes to lead; replicas apply records in
// their order, die, lose what was not synced, lose their disks, and are copied; the log loses its
// head; a collection is made again; records of a newer version come.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/cluster/real.h"
#include "model/cluster/table.h"

namespace seendb::cluster_model {

/// The writes of a shard, all about one user and one item: two plays, and an erasure whose time
/// lies between theirs. Each may be appended more than once, in any order.
enum Write : uint8_t { kEarlyPlay, kLatePlay, kErase };
inline constexpr int kWrites = 3;

/// A record of a shard's log.
struct Record {
  uint8_t write = 0;    ///< 1 + which; 0: no record
  int8_t read_at = -1;  ///< changes of X.meta that its writer had read; -1: it is of version 1
};

/// The content of a replica.
struct Content {
  uint8_t next = 0;    ///< offset to be applied next
  uint8_t plays = 0;   ///< a bit for each of the writes
  uint8_t erased = 0;  ///< up to which time; 0: never
  friend bool operator==(const Content&, const Content&) = default;
};

enum Stopped : uint8_t { kReads, kUntilCopied, kForGood };

struct Replica {
  Content now, safe;  ///< `safe` is left after a power cut
  uint8_t held = 0;
  uint8_t stopped = kReads;
};

struct LogState {
  Record log[kShards][kRecords];
  uint8_t count[kShards];            ///< records that were ever appended
  uint8_t begin[kShards];            ///< the first that is kept
  uint8_t acked[kShards];            ///< the offsets of records that were acknowledged; a bit each
  uint8_t taken[kShards];            ///< those of them whose plays were said to be recorded
  uint8_t awaited[kNodes][kShards];  ///< offsets whose callers wait at the node; a bit each
  Replica replicas[kNodes][kShards];
  uint8_t up;  ///< nodes; a bit each
  uint8_t faults;
  uint8_t first_version;  ///< of log records, that nodes might write from the start
  uint8_t readers;        ///< nodes that read records of version 2; a bit each
  uint8_t written;        ///< changes of X.meta that there are
  Change changes[kChanges];
  uint8_t read[kNodes];  ///< changes that each node has read
  /// Changes that its engine's collections know: more, where a copy of another node brought them.
  uint8_t made[kNodes];
};
static_assert(std::has_unique_object_representations_v<LogState>);

/// See the head of this file.
class LogWorld {
 public:
  using State = LogState;
  struct Names {
    uint8_t nodes[kNodes] = {0, 1, 2};  ///< canonical names, to those of the state
    uint8_t shards[kShards] = {0, 1};
  };
  static State Initial(const Bounds& bounds);
  static Table<State> Rows();
  static int Whats(const Bounds& bounds) { return bounds.writes; }
  static std::string_view Violated(const Bounds& bounds, const State& state);
  static State Canonical(const Bounds& bounds, const State& state, Names* names);
  static Action Renamed(const Action& action, const Names& names);
  static std::string Text(const Bounds& bounds, const State& state);
};
using LogModel = TableModel<LogWorld>;
std::vector<Scope> LogScopes();

/// Applies one record to a replica's content: 2 where it is a play that was recorded, else 1 (also
/// where it counted for nothing); the offset is left as it is.
bool ApplyRecord(const Record& record, const cluster::Meta& meta, Content* content);
/// The fold of the records before `next`, at a node that has read so many changes.
Content FoldLog(const LogState& state, int shard, int next, int read);
/// Puts a copy of another node's replica here, as Engine::AttachShard does with newer_collections.
void TakeCopy(const Action& action, LogState* state);
/// The fold of X.meta at a node that has read so many changes.
const cluster::Meta& MetaOf(const LogState& state, int read);

}  // namespace seendb::cluster_model
