// server/replica/progress.h: how far the replicas held here are, and who waits for them to get
// further.
//
// Threads: any. Callbacks are made on the thread that Advance, Stop, Drop, Expire or End was called
// on, or in Await itself, without a lock.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "cluster/view.h"
#include "replica/replicas.h"

namespace seendb::replica {

/// For how long nothing more is applied.
enum class Stopped : uint8_t {
  kForNow,         ///< until Resume
  kUntilReplaced,  ///< until another node's copy is in its place
  kForGood,        ///< until the process ends
};

/// See the head of this file.
class Progress {
 public:
  using Done = std::function<void(bool)>;

  // ---- Which there are ----

  /// It is being fetched; or no more.
  void SetFetching(uint32_t partition, bool fetching);
  /// It is held from now on, `now_ms` by the engine's clock.
  void Hold(uint32_t partition, int64_t now_ms);
  /// It is held no more.
  void Drop(uint32_t partition);
  std::set<uint32_t> Held() const;
  std::set<uint32_t> Fetching() const;
  bool IsHeld(uint32_t partition) const;
  /// Another number whenever Held() changes.
  uint64_t version() const;

  // ---- How far they are ----

  /// All before `next_offset` is stored, the last of it from `newest_ms`; 0: nothing.
  void Begin(uint32_t partition, int64_t next_offset, int64_t newest_ms);
  /// All before `next_offset` is applied, the last of it arrived at `arrival_ms`.
  void Advance(uint32_t partition, int64_t next_offset, int64_t arrival_ms);
  /// Nothing more is applied. `copy_from`: of kUntilReplaced, the offset that a copy has to have.
  void Stop(uint32_t partition, const std::string& why, Stopped how, int64_t copy_from = 0);
  /// Its log can be read on.
  void Resume(uint32_t partition);
  /// Whether no Resume helps it.
  bool IsStopped(uint32_t partition) const;
  /// Those that are to be replaced by a copy, with the offset that it has to have.
  std::map<uint32_t, int64_t> ToReplace() const;
  /// The process stood still up to now: until something that arrived later is applied, the replicas
  /// are behind.
  void Doubt(int64_t now_ms);

  /// Those that have applied a record that arrived after they were opened.
  std::set<uint32_t> CaughtUp() const;
  /// `topics_behind_ms`: how old is what is applied of other topics; one that is not named has not
  /// caught up with them. Null: there are none.
  std::map<uint32_t, cluster::ReplicaReport> Report(
      int64_t now_ms, const std::map<uint32_t, int64_t>* topics_behind_ms = nullptr) const;
  /// The states alone, by partition, as if there were no other topics.
  std::vector<std::pair<uint32_t, cluster::ReplicaState>> States(int64_t now_ms) const;
  std::vector<std::string> Problems() const;
  /// Those held of which nothing was applied since `since`.
  std::vector<uint32_t> QuietSince(Time since) const;

  // ---- Waiting ----

  void Await(uint32_t partition, int64_t next_offset, Time deadline, Done done);
  /// Ends what was to be there by `now`.
  void Expire(Time now);
  /// Nobody waits any more, and nobody may.
  void End();

 private:
  struct Replica {
    std::optional<int64_t> next_offset;
    int64_t newest_ms = 0;      ///< arrival of the newest applied record
    int64_t fresh_from_ms = 0;  ///< a record that arrived later shows that it is not stale
    bool caught_up = false;
    bool doubted = false;
    std::string stopped;  ///< why; empty: it is not
    Stopped how = Stopped::kForNow;
    int64_t copy_from = 0;
    Time applied_at = {};
    struct Waiter {
      Time deadline;
      Done done;
    };
    std::multimap<int64_t, Waiter> waiters;  ///< by the offset they wait for
  };
  using Ready = std::vector<Done>;
  static cluster::ReplicaReport ReportOf(const Replica& replica, int64_t now_ms,
                                         std::optional<int64_t> topic_ms);
  /// The waiters are to be told that it never comes.
  static void GiveUp(Replica* replica, Ready* ready);

  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<uint32_t, Replica> replicas_ GUARDED_BY(mutex_);
  std::set<uint32_t> fetching_ GUARDED_BY(mutex_);
  uint64_t version_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace seendb::replica
