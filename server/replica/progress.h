// server/replica/progress.h: how far the replicas held here are, and who waits for them to get
// further.
//
// Threads: any. Callbacks are made on the thread that Advance, Stop, Drop, Expire or End was called
// on, or in Await itself, without a lock.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
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
  /// It is held from `now` on.
  void Hold(uint32_t partition, Time now = std::chrono::steady_clock::now());
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
  /// All before `next_offset` is applied, the last of it arrived at `arrival_ms`; 0: by a clock
  /// that says nothing.
  void Advance(uint32_t partition, int64_t next_offset, int64_t arrival_ms,
               Time now = std::chrono::steady_clock::now());
  /// The log ended at `end` at some moment behind `asked_at`. A replica that has applied all before
  /// `end` has all that was in the log at `asked_at`.
  void NoteEnd(uint32_t partition, int64_t end, Time asked_at);
  /// What is applied next, of those held of which it is known.
  std::map<uint32_t, int64_t> NextOffsets() const;
  /// Nothing more is applied. `copy_from`: of kUntilReplaced, the offset that a copy has to have.
  void Stop(uint32_t partition, const std::string& why, Stopped how, int64_t copy_from = 0);
  /// Its log can be read on.
  void Resume(uint32_t partition);
  /// Whether no Resume helps it.
  bool IsStopped(uint32_t partition) const;
  /// Those that are to be replaced by a copy, with the offset that it has to have.
  std::map<uint32_t, int64_t> ToReplace() const;
  /// The process stood still up to now: the replicas are behind until they have applied all that
  /// was in the log at a later moment.
  void Doubt(Time now = std::chrono::steady_clock::now());

  /// Those that have applied all that was in the log when they were opened.
  std::set<uint32_t> CaughtUp() const;
  /// `now_ms`: the present by the engine's clock, which tells the lag of those that have not caught
  /// up. `topics_behind_ms`: how old is what is applied of other topics; one that is not named has
  /// not caught up with them. Null: there are none.
  std::map<uint32_t, cluster::ReplicaReport> Report(
      int64_t now_ms, Time now,
      const std::map<uint32_t, int64_t>* topics_behind_ms = nullptr) const;
  /// How those held stand, as if there were no other topics.
  struct Standing {
    uint32_t partition = 0;
    cluster::ReplicaState state = cluster::ReplicaState::kUnreachable;
    bool cut_off = false;
    bool operator==(const Standing&) const = default;
  };
  std::vector<Standing> Standings(Time now) const;
  std::vector<std::string> Problems() const;
  /// When a record of each that is held was applied last.
  std::map<uint32_t, Time> AppliedAt() const;

  // ---- Waiting ----

  void Await(uint32_t partition, int64_t next_offset, Time deadline, Done done);
  /// Ends what was to be there by `now`.
  void Expire(Time now);
  /// Nobody waits any more, and nobody may.
  void End();

 private:
  struct Replica {
    std::optional<int64_t> next_offset;
    int64_t newest_ms = 0;  ///< arrival of the newest applied record
    Time fresh_from = {};   ///< having all of the log at a later moment shows that it is not stale
    struct End {
      Time asked_at;
      int64_t offset;
    };
    std::deque<End> ends;  ///< of the log, ascending, that it has not come to
    Time::duration ends_apart = {};
    Time told_at = {};   ///< when the newest known end was asked for; at first, when it was held
    Time whole_at = {};  ///< it has all that was in the log then
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
  static cluster::ReplicaReport ReportOf(const Replica& replica, int64_t now_ms, Time now,
                                         std::optional<int64_t> topic_ms);
  static void Met(Replica* replica, Time asked_at);
  /// The waiters are to be told that it never comes.
  static void GiveUp(Replica* replica, Ready* ready);

  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<uint32_t, Replica> replicas_ GUARDED_BY(mutex_);
  std::set<uint32_t> fetching_ GUARDED_BY(mutex_);
  uint64_t version_ GUARDED_BY(mutex_) = 0;
  bool ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace seendb::replica
