// ring/ring.h: the time ring of one shard: plays are journalled and staged in the current slot,
// closed slots are drained into the seen filters, drained ones stay readable for a while.
//
// Only the current slot takes plays, by arrival. Who records pins it first (SlotPin): it journals
// and stages in that slot, closed meanwhile or not, and the drain of a closed slot waits until
// nobody has it pinned, so the drain and the writers never meet. A position still undrained when
// its turn comes is skipped; with none free there is no current slot and plays get kBusy.
//
// A journal record goes to the family of the slot that stages it, under the shard's next
// sequence; the family is dropped once the slot's merges are synced. Replaying or draining twice
// changes nothing.
//
// Threads: any. Who records pins a slot, then shares the apply lock for verdict, journal and
// staging (see base/sync.h).

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/write_batch.h>

#include "base/clock_guard.h"
#include "base/counters.h"
#include "base/name_table.h"
#include "base/presence.h"
#include "base/sync.h"
#include "ring/active_days.h"
#include "ring/history_staging.h"
#include "ring/staging.h"
#include "ring/user_settings.h"
#include "ring/written_users.h"
#include "seendb/report.h"
#include "store/shard_store.h"

namespace seendb {

/// How a ring turns.
struct RingOptions {
  uint32_t slots = 6;
  int64_t slot_ms = 3'600'000;
  uint64_t slot_bytes_max = 256ULL << 20;
  uint64_t short_term_bytes = 64ULL << 20;
};

/// What one write adds to a shard's ring.
struct RingBatch {
  std::string_view collection;
  uint16_t collection_id = 0;
  std::span<const StagedPlay> plays;           ///< for the filters alone
  std::span<const WatchedPlay> watched;        ///< for history and the filters
  std::span<const StagedPlay> watched_staged;  ///< the same plays again, as the filters take them
  rocksdb::WriteBatch* also = nullptr;         ///< further writes for the same batch, or null
  bool sync = false;

  bool empty() const { return plays.empty() && watched.empty(); }
};

/// The greatest staged state of each item of a user.
struct StagedState {
  int64_t at_ms = kNoTimeMs;
  std::string payload;
  HistoryView state() const { return {at_ms, false, payload}; }
};
using StagedStates = std::map<std::string, StagedState, std::less<>>;

/// Those who write into one slot.
struct SlotWriters {
  Presence presence;
  std::atomic<bool> full{false};  ///< the slot has reached its limit of bytes
};

/// Room for plays: the slot that was current, which is not drained while this lives. Excludes
/// nobody. Threads: one at a time.
class SlotPin {
 public:
  SlotPin(SlotPin&&) = default;
  SlotPin& operator=(SlotPin&&) = delete;
  /// Whether the slot has reached its limit of bytes: the ring is to be turned.
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

/// See the head of this file.
class Ring {
 public:
  Ring(ShardStore* store, const RingOptions& options, const ClockGuard* clock, NameTable* names,
       Counters* counters);

  /// Stages every record of every journal family again. Once, before anything else.
  Status Replay();

  /// The store was opened anew: what is staged stays, an erasure that failed may hold now.
  Status Reopened() { return LoadSettings(); }

  SharedLock& apply_lock() LOCK_RETURNED(apply_lock_) { return apply_lock_; }
  const UserSettings& settings() const { return settings_; }
  ActiveDays& days() { return days_; }
  WrittenUsers& written_users() { return written_users_; }

  /// The current slot; nothing where every slot waits to be drained.
  std::optional<SlotPin> Pin();
  /// The shard's next sequence.
  uint64_t NextSequence() { return sequence_.fetch_add(1, std::memory_order_relaxed) + 1; }

  /// Journals and stages accepted plays in a slot.
  Status Record(const RingBatch& batch, const SlotPin& pin) REQUIRES_SHARED(apply_lock_);

  /// Appends the user's undrained items of buckets from `oldest_bucket` on; with `drained`, those
  /// of the short-term store instead.
  void Collect(uint16_t collection, std::string_view user, int64_t oldest_bucket, bool drained,
               std::vector<Fingerprint>* items) const;

  /// The newest bucket of a collection with undrained plays, of the user or, where that is empty,
  /// of anybody.
  std::optional<int64_t> NewestStagedBucket(uint16_t collection, std::string_view user) const;

  /// The user's undrained history of a collection.
  void CollectHistory(uint16_t collection, std::string_view user, StagedStates* states) const;

  /// Closes the current slot if it holds plays, and opens the next free one.
  void Rotate();
  /// Rotates if the current slot's time has passed or it has grown too large.
  void RotateIfDue();
  /// Drains every closed slot, oldest first; stops at the first failure, to be tried again. kBusy
  /// where calls that have a slot pinned don't end for kLongestPin: nothing has failed then.
  Status DrainClosed() EXCLUDES(apply_lock_);
  /// Undrained slots besides the current one.
  uint32_t ClosedSlots() const;

  /// Forgets a user: database, slots and short-term store, synced. Of history the rows up to
  /// `at_ms` stay, and do not count: the caller deletes them, as the key erasing/<user> says. That
  /// key is written where there are tables of history, in the batch of the erasure. Of a user of
  /// whom nothing is held nothing is written, unless `always`. Sets all of `*done` but its time.
  Status Erase(std::string_view user, int64_t at_ms, bool always, Erasure* done)
      EXCLUDES(apply_lock_);
  /// Whether anything is held of the user, or may be, since not all can be read or was lost. True
  /// for good for a caller that holds the apply lock alone.
  bool MayHold(std::string_view user) const;
  /// Forgets the user's plays and impressions in the collections that `*record` has marks of, as
  /// an erasure at `at_ms` would; notes so there, and unites the user's record with it. All or
  /// nothing; the caller syncs the log once it has released the apply
  /// lock.
  Status Forget(std::string_view user, int64_t at_ms, UserRecord* record) REQUIRES(apply_lock_);
  /// Unites the user's record with what `change(known)` makes of it; nothing is written where it
  /// makes nothing. One at a time; `known` may be null. The caller syncs the log once it has
  /// released the apply lock, whether anything was written or not: what made it unnecessary may not
  /// be synced yet.
  Status ChangeSettings(
      std::string_view user,
      const std::function<Result<std::optional<UserRecord>>(const UserRecord* known)>& change)
      REQUIRES_SHARED(apply_lock_);
  /// For writes that carry a user's record themselves, once they have been made.
  void Settle(std::string_view user, const UserRecord& record) {
    settings_.Put(user, record);
    users_changed_.store(true);
  }
  /// Takes what users' records, and their last active days, say of a collection out of them.
  /// Nothing is written to it meanwhile. Cost: a look at every user of whom there is either.
  Status ForgetCollection(std::string_view collection) EXCLUDES(apply_lock_);
  /// Whether anything of a collection is staged and not drained.
  bool Holds(uint16_t collection) const;
  /// Writes the user records into a table, if any changed since: no damage of a log takes them
  /// then.
  Status FlushUsers() EXCLUDES(apply_lock_);

  /// Grows after each write that may add rows of history, before the writer releases the apply
  /// lock. Who looks rows up without the lock notes it before: what was found is all there is, as
  /// long as it has not grown once the looker holds the lock alone.
  uint64_t row_writes() const { return row_writes_.load(); }
  /// The write has ended, whatever came of it.
  void NoteRowWrite() REQUIRES_SHARED(apply_lock_) {
    apply_lock_.AssertHeldShared();
    row_writes_.fetch_add(1);
  }

  /// One report a slot.
  std::vector<SlotInfo> Slots() const;
  /// The user's staged plays.
  std::vector<StagedReport> Inspect(std::string_view user) const;
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
  Status LoadSettings();
  Status ReplayFamily(Slot* slot);
  bool ReplayRecord(uint64_t sequence, std::string_view record, Staging* staging);
  bool ReplayHistory(uint64_t sequence, std::string_view record, Staging* staging,
                     HistoryStaging* history);
  struct LaterRow;
  bool MayHoldIn(const CollectionFamilies& collection, std::string_view user) const;
  Status FindLaterRows(std::string_view user, int64_t at_ms, std::vector<LaterRow>* rows) const;
  Status WriteErasure(std::string_view user, int64_t at_ms, const std::vector<LaterRow>& later,
                      const std::vector<std::string>& damaged) REQUIRES(apply_lock_);
  Status ForgetMarks(std::string_view collection, std::span<const std::string> users)
      REQUIRES(apply_lock_);
  Status ForgetDays(std::string_view collection);
  void EraseStaged(const CollectionFamilies& collection, std::string_view user, bool history)
      REQUIRES(apply_lock_);
  bool RotationIsDue(int64_t now_ms) const REQUIRES_SHARED(mutex_);
  void OpenNext() REQUIRES(mutex_);
  void Turn() REQUIRES(mutex_);
  Slot* OldestClosed() REQUIRES_SHARED(mutex_);
  /// Waits until nobody has the oldest closed slot pinned, and says which it is.
  Result<uint32_t> BeginDrain() REQUIRES(drain_mutex_);
  Status EndDrain(uint32_t position, const Status& drained) REQUIRES(drain_mutex_);
  Status DrainSlot(uint32_t position) REQUIRES(drain_mutex_);
  Status WriteMerges(const Staging& staging, int64_t as_of_ms) REQUIRES(drain_mutex_);
  Status WriteHistory(const HistoryStaging& staging) REQUIRES(drain_mutex_);
  void EvictShortTerm() REQUIRES(mutex_);
  void Pace() const;

  ShardStore* const store_;
  const RingOptions options_;
  const ClockGuard* const clock_;
  NameTable* const names_;
  Counters* const counters_;

  SharedLock apply_lock_;
  UserSettings settings_;
  ActiveDays days_;
  WrittenUsers written_users_;
  Mutex settings_mutex_{LockRank::kUserRecords};  // one change of a setting at a time
  std::atomic<uint64_t> sequence_;
  std::atomic<uint64_t> row_writes_{0};
  std::atomic<bool> users_changed_{false};  // since they were written into a table
  Mutex drain_mutex_{LockRank::kDrain};     // one drain at a time

  mutable ReadWriteMutex mutex_{LockRank::kSlots};
  std::vector<Slot> slots_ GUARDED_BY(mutex_);
  Slot* current_ GUARDED_BY(mutex_) = nullptr;
  uint32_t turn_ GUARDED_BY(mutex_) = 0;  // position to try next
  uint64_t closings_ GUARDED_BY(mutex_) = 0;
};

}  // namespace seendb
