// ring/ring.h: the time ring of one shard: plays are staged in the current slot, closed slots are
// drained into the seen filters, drained ones stay readable for a while. The ring is memory alone:
// whoever records writes the journal first (shard/apply.h), whoever drains writes the merges
// (shard/drain.h).
//
// Only the current slot takes plays, by arrival. Who records pins it first (SlotPin): it journals
// and stages in that slot, closed meanwhile or not, and the drain of a closed slot waits until
// nobody has it pinned, so the drain and the writers never meet. A position still undrained when
// its turn comes is skipped; with none free there is no current slot and plays get kBusy.
//
// Threads: any. What a call adds or forgets is seen whole or not at all by a drain only if the
// caller is in the shard's apply lock: shared to stage, alone to forget (base/sync.h).

#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock_guard.h"
#include "base/presence.h"
#include "base/sync.h"
#include "ring/history_staging.h"
#include "ring/staged_history.h"
#include "ring/staging.h"
#include "seendb/report.h"

namespace seendb {

/// How a ring turns.
struct RingOptions {
  uint32_t slots = 6;
  int64_t slot_ms = 3'600'000;
  uint64_t slot_bytes_max = 256ULL << 20;
  uint64_t short_term_bytes = 64ULL << 20;
};

/// What one write stages of a collection.
struct RingPlays {
  std::span<const StagedPlay> plays;           ///< for the filters alone
  std::span<const WatchedPlay> watched;        ///< for history and the filters
  std::span<const StagedPlay> watched_staged;  ///< the same plays again, as the filters take them

  bool empty() const { return plays.empty() && watched.empty(); }
};

/// Those who write into one slot.
struct SlotWriters {
  Presence presence;
  std::atomic<bool> full{false};  ///< the slot has reached its limit of bytes, or of one user's
};

/// Room for plays: the slot that was current, which is not drained while this lives. Excludes
/// nobody. Threads: one at a time.
class SlotPin {
 public:
  SlotPin(SlotPin&&) = default;
  SlotPin& operator=(SlotPin&&) = delete;
  uint32_t position() const { return position_; }
  /// Whether the slot has reached its limit of bytes, or holds too many plays of one user: the ring
  /// is to be turned.
  bool full() const { return writers_->full.load(std::memory_order_relaxed); }

 private:
  friend class Ring;
  SlotPin(std::shared_ptr<SlotWriters> writers, Presence::Inside inside, uint32_t position,
          std::shared_ptr<Staging> staging, std::shared_ptr<HistoryStaging> history)
      : writers_(std::move(writers)),
        inside_(std::move(inside)),
        position_(position),
        staging_(std::move(staging)),
        history_(std::move(history)) {}
  std::shared_ptr<SlotWriters> writers_;
  Presence::Inside inside_;  // of writers_, which goes after it
  uint32_t position_;
  std::shared_ptr<Staging> staging_;
  std::shared_ptr<HistoryStaging> history_;
};

/// A slot that is being drained: what it holds.
struct SlotContents {
  uint32_t position = 0;
  int64_t closed_ms = 0;
  std::shared_ptr<Staging> staging;
  std::shared_ptr<HistoryStaging> history;
};

/// See the head of this file.
class Ring {
 public:
  Ring(const RingOptions& options, const ClockGuard* clock) : options_(options), clock_(clock) {}

  /// Once, before anything else: `slots` were undrained at the last close, by position; those
  /// without contents are free. There are as many positions as given, and as the options say.
  /// Without `takes_plays` there is no current slot.
  void Begin(std::vector<SlotContents> slots, bool takes_plays);

  /// The current slot; nothing where every slot waits to be drained.
  std::optional<SlotPin> Pin();
  /// Stages plays of a collection in a slot. Precondition: they are journalled.
  void Stage(uint16_t collection, const RingPlays& plays, const SlotPin& pin) const;
  /// Forgets what a user has in a collection, in the short-term store too; with `history`, what is
  /// staged for history as well.
  void Forget(uint16_t collection, std::string_view user, bool history);

  /// Appends the user's undrained items of buckets from `oldest_bucket` on; with `drained`, those
  /// of the short-term store instead. Widens `*buckets` by theirs.
  void Collect(uint16_t collection, std::string_view user, int64_t oldest_bucket, bool drained,
               std::vector<Fingerprint>* items, BucketSpan* buckets) const;
  /// The newest bucket of a collection with undrained plays, of the user or, where that is empty,
  /// of anybody.
  std::optional<int64_t> NewestStagedBucket(uint16_t collection, std::string_view user) const;
  /// The user's undrained history of a collection. What is in it now stays in it, drained or not.
  /// `user` must outlive it.
  StagedHistory HistoryOf(uint16_t collection, std::string_view user) const;
  /// Whether there is any.
  bool HoldsHistoryOf(uint16_t collection, std::string_view user) const;
  /// How often the drain of a slot has begun. Until then nothing that is staged is written anywhere
  /// else, and from then on nothing comes into the slot any more.
  uint64_t DrainsBegun() const;
  /// What all StagedHistory::Freeze together may hold.
  FrozenBudget* frozen() const { return &frozen_; }
  /// Whether anything of a collection is staged and not drained.
  bool Holds(uint16_t collection) const;

  /// Closes the current slot if it holds plays, and opens the next free one.
  void Rotate();
  /// Rotates if the current slot's time has passed or it has grown too large.
  void RotateIfDue();
  /// Undrained slots besides the current one.
  uint32_t ClosedSlots() const;
  /// Takes the oldest closed slot to be drained, once nobody has it pinned; nothing where the calls
  /// that have it pinned don't end for `longest_wait`. One at a time; there is a closed slot.
  std::optional<SlotContents> BeginDrain(std::chrono::milliseconds longest_wait);
  /// The drain of a slot has ended. Drained slots become the short-term store; others are closed
  /// again, to be drained another time.
  void EndDrain(uint32_t position, bool drained);

  /// One report a slot; the shard is the caller's to fill in.
  std::vector<SlotInfo> Slots() const;
  /// Calls `visit(position, drained, bucket, items)` for the user's staged plays of a collection.
  template <typename Visit>
  void ForUser(uint16_t collection, std::string_view user, const Visit& visit) const;
  /// Adds this ring's gauges.
  void AddTo(EngineStats* stats) const;

 private:
  enum class State : uint8_t { kFree, kCurrent, kClosed, kDraining, kDrained };
  struct Slot {
    uint32_t position = 0;
    State state = State::kFree;
    uint64_t generation = 0;
    uint64_t closed_order = 0;  // of closing; older first
    int64_t opened_ms = 0;
    int64_t closed_ms = 0;
    std::shared_ptr<Staging> staging;         // null while free or evicted
    std::shared_ptr<HistoryStaging> history;  // null unless current or closed, or before any
    std::shared_ptr<SlotWriters> writers;     // null before any
  };

  static const char* StateName(State state);
  bool RotationIsDue(int64_t now_ms) const REQUIRES_SHARED(mutex_);
  void OpenNext() REQUIRES(mutex_);
  void Turn() REQUIRES(mutex_);
  Slot* OldestClosed() REQUIRES_SHARED(mutex_);
  void EvictShortTerm() REQUIRES(mutex_);

  const RingOptions options_;
  const ClockGuard* const clock_;
  mutable FrozenBudget frozen_;

  mutable ReadWriteMutex mutex_{LockRank::kSlots};
  std::vector<Slot> slots_ GUARDED_BY(mutex_);
  Slot* current_ GUARDED_BY(mutex_) = nullptr;
  uint32_t turn_ GUARDED_BY(mutex_) = 0;  // position to try next
  uint64_t closings_ GUARDED_BY(mutex_) = 0;
  uint64_t drains_begun_ GUARDED_BY(mutex_) = 0;
};

template <typename Visit>
void Ring::ForUser(uint16_t collection, std::string_view user, const Visit& visit) const {
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.staging == nullptr) continue;
    const bool drained = slot.state == State::kDrained;
    slot.staging->ForUser(collection, user, [&](int64_t bucket, uint32_t items) {
      visit(slot.position, drained, bucket, items);
    });
  }
}

}  // namespace seendb
