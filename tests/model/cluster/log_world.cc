#include "model/cluster/log_world.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <unordered_map>

namespace seendb::cluster_model {
namespace {

// The time of each write.
constexpr uint8_t kTimes[kWrites] = {1, 3, 2};

bool Has(uint8_t mask, int bit) { return (mask >> bit & 1) != 0; }
void Set(uint8_t* mask, int bit) { *mask = static_cast<uint8_t>(*mask | 1 << bit); }
void Clear(uint8_t* mask, int bit) { *mask = static_cast<uint8_t>(*mask & ~(1 << bit)); }

bool IsErase(const Record& record) { return record.write == kErase + 1; }

/// Up to the model's first placement nobody asks who holds what: all nodes hold all shards.
bool Reads(const LogState& state, int node, int shard) {
  const Replica& replica = state.replicas[node][shard];
  return Has(state.up, node) && replica.held != 0 && replica.stopped == kReads;
}

void Die(LogState* state, int node) {
  Clear(&state->up, node);
  for (int shard = 0; shard < kShards; ++shard) state->awaited[node][shard] = 0;
}

bool Fault(const Bounds& bounds, LogState* state) { return state->faults++ < bounds.faults; }

int64_t MadeBy(const LogState& state, int read) {
  return MetaOf(state, read).collections().at(kCollection).made_by;
}

// The engine's collections become those of so many changes, if they are not further: plays of one
// that is gone go with it, synced.
void BringInLine(LogState* state, int node, int read) {
  uint8_t& made = state->made[node];
  if (made >= read) return;
  if (MadeBy(*state, made) != MadeBy(*state, read)) {
    for (Replica& replica : state->replicas[node]) replica.now.plays = replica.safe.plays = 0;
  }
  made = static_cast<uint8_t>(read);
}

void ReadMeta(LogState* state, int node, int read) {
  BringInLine(state, node, read);
  state->read[node] = static_cast<uint8_t>(read);
}

bool Append(const Action& action, LogState* state) {
  const int shard = action.shard;
  if (!Has(state->up, action.node) || state->replicas[action.node][shard].held == 0) return false;
  const int read = ThroughTheLog(MetaOf(*state, state->read[action.node]).log_version(),
                                 state->read[action.node]);
  state->log[shard][state->count[shard]++] = {static_cast<uint8_t>(action.what + 1),
                                              static_cast<int8_t>(read)};
  return true;
}

// ---- Rows ----

bool DoAppend(const Bounds& bounds, const Action& action, LogState* state) {
  const int offset = state->count[action.shard];
  if (offset >= bounds.records || !Append(action, state)) return false;
  Set(&state->awaited[action.node][action.shard], offset);
  return true;
}

// Kafka has the record; its answer is lost, or the node gives it up.
bool DoAppendUnknown(const Bounds& bounds, const Action& action, LogState* state) {
  return state->count[action.shard] < bounds.records && Append(action, state);
}

// Answered 202: Kafka has it, and it was not applied in time.
bool DoTellPending(const Bounds&, const Action& action, LogState* state) {
  uint8_t& awaited = state->awaited[action.node][action.shard];
  if (awaited == 0) return false;
  int offset = 0;
  while (!Has(awaited, offset)) ++offset;
  Clear(&awaited, offset);
  Set(&state->acked[action.shard], offset);
  return true;
}

// The steps of Reader::Take and Applier::Apply, with the offset in the batch of the plays.
bool DoApply(const Bounds&, const Action& action, LogState* state) {
  const int node = action.node, shard = action.shard;
  Replica& replica = state->replicas[node][shard];
  const int offset = replica.now.next;
  if (!Reads(*state, node, shard) || offset >= state->count[shard]) return false;
  if (offset < state->begin[shard]) return false;
  const Record& record = state->log[shard][offset];
  if (record.read_at >= 0 && !Has(state->readers, node)) {
    replica.stopped = kForGood;
    return true;
  }
  if (record.read_at > state->read[node]) ReadMeta(state, node, state->written);
  const bool took = ApplyRecord(record, MetaOf(*state, state->read[node]), &replica.now);
  ++replica.now.next;
  if (!Has(state->awaited[node][shard], offset)) return true;
  Clear(&state->awaited[node][shard], offset);
  Set(&state->acked[shard], offset);
  if (took) Set(&state->taken[shard], offset);
  return true;
}

// A process that dies between a command and its offset.
bool DoApplyTorn(const Bounds& bounds, const Action& action, LogState* state) {
  Replica& replica = state->replicas[action.node][action.shard];
  const int offset = replica.now.next;
  if (!Reads(*state, action.node, action.shard) || offset >= state->count[action.shard]) {
    return false;
  }
  const Record& record = state->log[action.shard][offset];
  if (offset < state->begin[action.shard] || !IsErase(record)) return false;
  const bool reads = record.read_at < 0 || Has(state->readers, action.node);
  if (!reads || !Fault(bounds, state)) return false;
  ApplyRecord(record, MetaOf(*state, state->read[action.node]), &replica.now);
  replica.safe = replica.now;  // an erasure is synced
  Die(state, action.node);
  return true;
}

bool DoSync(const Bounds&, const Action& action, LogState* state) {
  Replica& replica = state->replicas[action.node][action.shard];
  if (!Has(state->up, action.node) || replica.held == 0 || replica.safe == replica.now) {
    return false;
  }
  replica.safe = replica.now;
  return true;
}

bool DoCrash(const Bounds& bounds, const Action& action, LogState* state) {
  if (!Has(state->up, action.node) || !Fault(bounds, state)) return false;
  Die(state, action.node);
  return true;
}

bool DoPowerCut(const Bounds& bounds, const Action& action, LogState* state) {
  if (!DoCrash(bounds, action, state)) return false;
  for (Replica& replica : state->replicas[action.node]) replica.now = replica.safe;
  return true;
}

bool DoStart(const Bounds&, const Action& action, LogState* state) {
  if (Has(state->up, action.node)) return false;
  Set(&state->up, action.node);
  for (Replica& replica : state->replicas[action.node]) {
    if (replica.stopped != kReads) replica.stopped = kReads;  // it looks again
  }
  return true;
}

// Retention deletes the first record. That it was applied and synced somewhere is what the length
// of the retention is for.
bool DoLoseHead(const Bounds& bounds, const Action& action, LogState* state) {
  uint8_t& begin = state->begin[action.shard];
  if (begin >= state->count[action.shard]) return false;
  bool somewhere = false;
  for (int node = 0; node < bounds.nodes; ++node) {
    const Replica& replica = state->replicas[node][action.shard];
    somewhere = somewhere || (replica.held != 0 && replica.safe.next > begin);
  }
  if (!somewhere || !Fault(bounds, state)) return false;
  ++begin;
  return true;
}

// Reader::Begin and CheckGap: nothing is read over.
bool DoNotice(const Bounds&, const Action& action, LogState* state) {
  Replica& replica = state->replicas[action.node][action.shard];
  const bool gone = replica.now.next < state->begin[action.shard];
  if (!Reads(*state, action.node, action.shard) || !gone) return false;
  replica.stopped = kUntilCopied;
  return true;
}

// One node's disk; what is in the log, or at another node, is there.
bool DoLoseDisk(const Bounds& bounds, const Action& action, LogState* state) {
  for (int shard = 0; shard < bounds.shards; ++shard) {
    bool elsewhere = false;
    for (int node = 0; node < bounds.nodes; ++node) {
      const Replica& replica = state->replicas[node][shard];
      const bool reaches = replica.held != 0 && replica.safe.next >= state->begin[shard];
      elsewhere = elsewhere || (node != action.node && reaches);
    }
    if (!elsewhere) return false;
  }
  if (!Fault(bounds, state)) return false;
  Die(state, action.node);
  for (Replica& replica : state->replicas[action.node]) replica = {};
  return true;
}

// A copy of another node's replica, as it is: Keeper::FetchNow and ReplaceNow. X.meta is read to
// its end first: the other node may have read more.
bool DoCopy(const Bounds&, const Action& action, LogState* state) {
  Replica& to = state->replicas[action.node][action.shard];
  const Replica& from = state->replicas[action.other][action.shard];
  const bool wants = Has(state->up, action.node) && (to.held == 0 || to.stopped == kUntilCopied);
  const bool gives = Has(state->up, action.other) && from.held != 0;
  const bool reaches = from.now.next >= state->begin[action.shard];
  if (!wants || !gives || !reaches) return false;
  ReadMeta(state, action.node, state->written);
  TakeCopy(action, state);
  return true;
}

bool DoReadMeta(const Bounds&, const Action& action, LogState* state) {
  const int read = state->read[action.node];
  if (!Has(state->up, action.node) || read >= state->written) return false;
  ReadMeta(state, action.node, read + 1);
  return true;
}

bool AddChange(const Bounds& bounds, Change change, LogState* state) {
  if (state->written >= bounds.changes) return false;
  state->changes[state->written++] = change;
  return true;
}

bool DoMakeAgain(const Bounds& bounds, const Action&, LogState* state) {
  return AddChange(bounds, kMadeAgain, state);
}

// The command writes nothing where the record would not count.
bool DoRaise(const Bounds& bounds, const Action&, LogState* state) {
  if (!AddChange(bounds, kUpgraded, state)) return false;
  Changes changes;
  std::copy(std::begin(state->changes), std::end(state->changes), changes.begin());
  return Counted({false, state->readers, state->first_version}, changes, state->written - 1);
}

// The node is started again with newer software.
bool DoUpgrade(const Bounds&, const Action& action, LogState* state) {
  if (Has(state->readers, action.node) || !Has(state->up, action.node)) return false;
  Set(&state->readers, action.node);
  for (int shard = 0; shard < kShards; ++shard) state->awaited[action.node][shard] = 0;
  for (Replica& replica : state->replicas[action.node]) replica.stopped = kReads;
  return true;
}

// ---- Invariants ----

template <typename Holds>
bool EachReplica(const Bounds& bounds, const LogState& state, Holds holds) {
  for (int node = 0; node < bounds.nodes; ++node) {
    for (int shard = 0; shard < bounds.shards; ++shard) {
      const Replica& replica = state.replicas[node][shard];
      if (replica.held != 0 && !holds(node, shard, replica)) return false;
    }
  }
  return true;
}

// Whether an erasure, or the end of the collection, took the record by `next`.
bool WasTaken(const LogState& state, int shard, int offset, int next, int read) {
  for (int at = offset + 1; at < next; ++at) {
    if (IsErase(state.log[shard][at])) return true;
  }
  const Record& record = state.log[shard][offset];
  return record.read_at >= 0 && !PlayCounts(MetaOf(state, read), record.read_at);
}

// An erasure whose offset is not stored yet is repeated: the same once more changes nothing.
bool ReplicasAreTheLog(const Bounds& bounds, const LogState& state) {
  return EachReplica(bounds, state, [&](int node, int shard, const Replica& replica) {
    return std::ranges::all_of(
        std::initializer_list<Content>{replica.now, replica.safe}, [&](const Content& is) {
          if (is == FoldLog(state, shard, is.next, state.made[node])) return true;
          if (is.next >= state.count[shard] || !IsErase(state.log[shard][is.next])) return false;
          Content whole = FoldLog(state, shard, is.next + 1, state.made[node]);
          --whole.next;
          return is == whole;
        });
  });
}

bool PositionIsSeen(const Bounds& bounds, const LogState& state) {
  return EachReplica(bounds, state, [&](int node, int shard, const Replica& replica) {
    for (int offset = 0; offset < state.count[shard]; ++offset) {
      const bool owed = Has(state.taken[shard], offset) && replica.now.next > offset;
      if (!owed || Has(replica.now.plays, state.log[shard][offset].write - 1)) continue;
      if (WasTaken(state, shard, offset, replica.now.next + 1, state.made[node])) continue;
      return false;
    }
    return true;
  });
}

// It is in the log, or on the disk of a node.
bool NothingIsLost(const Bounds& bounds, const LogState& state) {
  for (int shard = 0; shard < bounds.shards; ++shard) {
    for (int offset = 0; offset < state.begin[shard]; ++offset) {
      if (!Has(state.acked[shard], offset)) continue;
      bool there = false;
      for (int node = 0; node < bounds.nodes; ++node) {
        const Replica& replica = state.replicas[node][shard];
        there = there || (replica.held != 0 && replica.safe.next > offset);
      }
      if (!there) return false;
    }
  }
  return true;
}

// Writers ask the cluster's version first: nothing comes that a node can't read.
bool NobodyStops(const Bounds& bounds, const LogState& state) {
  return EachReplica(bounds, state,
                     [&](int, int, const Replica& replica) { return replica.stopped != kForGood; });
}

struct Invariant {
  std::string_view sentence;
  bool (*Holds)(const Bounds& bounds, const LogState& state);
};
constexpr Invariant kInvariants[] = {
    {"What was acknowledged is not lost with any node", NothingIsLost},
    {"A request that sends SeenDB-Position back sees that write at any replica", PositionIsSeen},
    {"A replica is a function of the log: replicas at one offset are equal", ReplicasAreTheLog},
    {"No node meets a record that its software can't read", NobodyStops},
};

}  // namespace

// Kept by what is asked, since each state asks.
const cluster::Meta& MetaOf(const LogState& state, int read) {
  static std::unordered_map<uint64_t, const cluster::Meta*> known;
  uint64_t key = static_cast<uint64_t>(read << 6 | state.readers << 3 | state.first_version);
  for (const Change change : state.changes) key = key << 8 | change;
  const cluster::Meta*& meta = known[key];
  if (meta == nullptr) {
    Changes changes;
    std::copy(std::begin(state.changes), std::end(state.changes), changes.begin());
    meta = &FoldOf({false, state.readers, state.first_version}, changes, read);
  }
  return *meta;
}

bool ApplyRecord(const Record& record, const cluster::Meta& meta, Content* content) {
  const int write = record.write - 1;
  const uint8_t at = kTimes[write];
  if (write ==
      kErase) {  // of all that is known, later plays too: whoever wrote them had a clock ahead
    content->erased = std::max(content->erased, at);
    for (int play = 0; play < kErase; ++play) {
      if (Has(content->plays, play)) content->erased = std::max(content->erased, kTimes[play]);
    }
    content->plays = 0;
    return false;
  }
  if (record.read_at >= 0 && !PlayCounts(meta, record.read_at)) return false;
  if (at <= content->erased) return false;
  Set(&content->plays, write);
  return true;
}

void TakeCopy(const Action& action, LogState* state) {
  BringInLine(state, action.node, state->made[action.other]);  // its word holds for all shards
  Content copied = state->replicas[action.other][action.shard].now;
  if (MadeBy(*state, state->made[action.other]) != MadeBy(*state, state->made[action.node])) {
    copied.plays = 0;
  }
  state->replicas[action.node][action.shard] = {copied, copied, 1, kReads};
}

Content FoldLog(const LogState& state, int shard, int next, int read) {
  Content content;
  for (int offset = 0; offset < next; ++offset) {
    ApplyRecord(state.log[shard][offset], MetaOf(state, read), &content);
  }
  content.next = static_cast<uint8_t>(next);
  return content;
}

LogState LogWorld::Initial(const Bounds& bounds) {
  LogState state{};
  for (auto& log : state.log) std::fill(std::begin(log), std::end(log), Record{0, -1});
  state.up = static_cast<uint8_t>((1 << bounds.nodes) - 1);
  state.readers = bounds.older ? 0 : 7;
  state.first_version = bounds.older ? 1 : 2;
  for (int node = 0; node < bounds.nodes; ++node) {
    for (int shard = 0; shard < bounds.shards; ++shard) state.replicas[node][shard].held = 1;
  }
  return state;
}

Table<LogState> LogWorld::Rows() {
  return {
      {"append", kNode | kShard | kWhat, DoAppend},
      {"append-unknown", kNode | kShard | kWhat, DoAppendUnknown},
      {"tell-pending", kNode | kShard, DoTellPending},
      {"apply", kNode | kShard, DoApply},
      {"apply-torn", kNode | kShard, DoApplyTorn},
      {"sync", kNode | kShard, DoSync},
      {"crash", kNode, DoCrash},
      {"power-cut", kNode, DoPowerCut},
      {"start", kNode, DoStart},
      {"lose-head", kShard, DoLoseHead},
      {"notice", kNode | kShard, DoNotice},
      {"lose-disk", kNode, DoLoseDisk},
      {"copy", kNode | kOther | kShard, DoCopy},
      {"read-meta", kNode, DoReadMeta},
      {"make-again", kAlone, DoMakeAgain},
      {"raise", kAlone, DoRaise},
      {"upgrade", kNode, DoUpgrade},
  };
}

std::string_view LogWorld::Violated(const Bounds& bounds, const State& state) {
  for (const Invariant& one : kInvariants) {
    if (!one.Holds(bounds, state)) return one.sentence;
  }
  return {};
}

}  // namespace seendb::cluster_model
