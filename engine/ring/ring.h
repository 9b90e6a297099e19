// ring/ring.h: the time ring of one shard: plays are journalled and staged in the current slot,
// closed slots are drained into the seen filters, drained ones stay readable for a while.
//
// Only the current slot takes plays, by arrival; a closed one takes no more, so the drain and the
// writers never meet. A position still undrained when its turn comes is skipped; with none free
// there is no current slot and plays get kBusy.
//
// A journal record goes to the family of the slot that stages it, under the shard's next
// sequence; the family is dropped once the slot's merges are synced. Replaying or draining twice
// changes nothing.
//
// Threads: any. Who records passes the gate first and stays inside for verdict, journal and
// staging (see gate.h).

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/write_batch.h>

#include "base/clock.h"
#include "base/name_table.h"
#include "ring/active_days.h"
#include "ring/gate.h"
#include "ring/history_staging.h"
#include "ring/staging.h"
#include "ring/user_settings.h"
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

/// What the rings of an engine count; relaxed.
struct RingCounters {
  std::atomic<uint64_t> drained_plays{0}, drained_records{0}, drained_expired{0}, drains{0};
  std::atomic<uint64_t> drain_failures{0}, drain_us{0};
  std::atomic<uint64_t> replayed_records{0}, replayed_plays{0}, damaged_records{0};
  std::atomic<uint64_t> history_drained{0};
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

/// See the head of this file.
class Ring {
 public:
  Ring(ShardStore* store, const RingOptions& options, const Clock* clock, NameTable* names,
       RingCounters* counters);

  /// Stages every record of every journal family again. Once, before anything else.
  Status Replay();

  /// The store was opened anew: what is staged stays, an erasure that failed may hold now.
  Status Reopened() { return LoadSettings(); }

  Gate& gate() { return gate_; }
  const UserSettings& settings() const { return settings_; }
  ActiveDays& days() { return days_; }

  /// Whether a slot takes plays now. Decided for as long as the caller is inside the gate.
  bool HasCurrent() const;
  /// The shard's next sequence.
  uint64_t NextSequence() { return sequence_.fetch_add(1, std::memory_order_relaxed) + 1; }

  /// Journals and stages accepted plays. Precondition: inside the gate, HasCurrent().
  Status Record(const Gate::Scope& inside, const RingBatch& batch);

  /// Appends the user's undrained items of buckets from `oldest_bucket` on; with `drained`, those
  /// of the short-term store instead.
  void Collect(uint16_t collection, std::string_view user, int64_t oldest_bucket, bool drained,
               std::vector<Fingerprint>* items) const;

  /// The user's undrained history of a collection.
  void CollectHistory(uint16_t collection, std::string_view user, StagedStates* states) const;

  /// Closes the current slot if it holds plays, and opens the next free one.
  void Rotate();
  /// Rotates if the current slot's time has passed or it has grown too large.
  void RotateIfDue();
  /// Drains every closed slot, oldest first; stops at the first failure, to be tried again.
  Status DrainClosed();
  /// Undrained slots besides the current one.
  uint32_t ClosedSlots() const;
  /// Whether the current slot has reached its limit of bytes.
  bool Full() const { return full_.load(std::memory_order_relaxed); }

  /// Forgets a user: database, slots and short-term store, synced.
  Status Erase(std::string_view user, int64_t at_ms);
  /// Forgets the user's plays and impressions in the collections that `*record` has marks of, as
  /// an erasure at `at_ms` would; notes so there, and unites the user's record with it. Synced, all
  /// or nothing.
  Status Forget(const Gate::Exclusive& alone, std::string_view user, int64_t at_ms,
                UserRecord* record);
  /// Unites the user's record with what `change(known)` makes of it, synced; nothing is written
  /// where it makes nothing. One at a time; `known` may be null. Precondition: inside the gate.
  Status ChangeSettings(
      const Gate::Scope& inside, std::string_view user,
      const std::function<Result<std::optional<UserRecord>>(const UserRecord* known)>& change);
  /// For writes that carry a user's record themselves, once they have been made.
  void Settle(std::string_view user, const UserRecord& record) { settings_.Put(user, record); }

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
  };

  static const char* StateName(State state);
  Status LoadSettings();
  Status ReplayFamily(uint32_t position);
  bool ReplayRecord(uint64_t sequence, std::string_view record, Staging* staging);
  bool ReplayHistory(uint64_t sequence, std::string_view record, Staging* staging,
                     HistoryStaging* history);
  void EraseStaged(std::string_view collection, std::string_view user, bool history);
  void OpenNext();
  void Turn();
  Status DrainSlot(uint32_t position);
  Status WriteMerges(const Staging& staging, int64_t as_of_ms);
  Status WriteHistory(const HistoryStaging& staging);
  void EvictShortTerm();
  void Pace() const;

  ShardStore* const store_;
  const RingOptions options_;
  const Clock* const clock_;
  NameTable* const names_;
  RingCounters* const counters_;

  Gate gate_;
  UserSettings settings_;
  ActiveDays days_;
  std::mutex settings_mutex_;  // one change of a setting at a time
  std::atomic<uint64_t> sequence_;
  std::atomic<bool> full_{false};
  std::mutex drain_mutex_;  // one drain at a time

  mutable std::shared_mutex mutex_;  // guards what follows
  std::vector<Slot> slots_;
  Slot* current_ = nullptr;
  uint32_t turn_ = 0;  // position to try next
  uint64_t closings_ = 0;
};

}  // namespace seendb
