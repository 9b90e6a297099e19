// shard/parts.h: what a shard consists of, with its locks. Shard (shard.h) enters it; the functions
// of this room, one matter a file, do the work on it.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock_guard.h"
#include "base/counters.h"
#include "base/name_table.h"
#include "base/sync.h"
#include "ring/ring.h"
#include "seendb/options.h"
#include "shard/active_days.h"
#include "shard/collection.h"
#include "shard/outbox.h"
#include "shard/user_records.h"
#include "shard/user_turns.h"
#include "shard/written_users.h"
#include "store/shard_store.h"
#include "store/sources.h"

namespace seendb {

/// As the store takes it. `collection` outlives it.
inline StoredPolicy StoredPolicyOf(const Collection& collection) {
  return {collection.name, collection.policy, collection.making, collection.revision};
}

/// What the shards of a database share. All of it outlives them.
struct ShardContext {
  const Options* options = nullptr;
  const ClockGuard* clock = nullptr;
  Counters* counters = nullptr;
  NameTable* names = nullptr;
  const ItemHash* hash = nullptr;
  std::shared_ptr<SharedResources> resources;
  uint64_t user_cache_bytes = 0;  ///< of one shard
};

/// Users of a shard whose erasure has rows of history left to be deleted: it was interrupted.
struct UnfinishedErasures {
  Mutex mutex{LockRank::kErasures};
  uint64_t epoch GUARDED_BY(mutex) = 0;  // of the opening whose keys are among `users`
  std::map<std::string, int64_t> users GUARDED_BY(mutex);  // and up to when their history goes
  int tries GUARDED_BY(mutex) = 0;                         // that failed, one after the other
  std::chrono::steady_clock::time_point next GUARDED_BY(mutex);
};

/// Whether erasures may have left something in logs and tables: not known when a shard is opened,
/// or opened anew.
struct Traces {
  std::atomic<uint64_t> erasures{1};  // counted after their writes
  std::atomic<uint64_t> purged{0};    // of these
};

/// When maintenance was last done.
struct Upkeep {
  explicit Upkeep(uint32_t shard) : mutex(LockRank::kMaintenance, shard) {}
  Mutex mutex;  // one run at a time
  int64_t done_to_ms GUARDED_BY(mutex) = 0;
  std::map<std::string, int64_t> trimmed_ms GUARDED_BY(mutex);  // by collection
  int64_t erasures_ms GUARDED_BY(mutex) = 0;                    // old ones were looked for
  int64_t purged_ms GUARDED_BY(mutex) = 0;                      // a purge was thought of
};

/// See the head of this file. Whoever uses the database or the ring is inside `use` meanwhile,
/// together with others; alone there, a shard whose disk failed is closed and opened anew. `use`
/// comes before the apply lock, which orders writes: who writes shares it for verdict, journal and
/// staging; who forgets a user, or unpublishes a bucket, holds it alone.
struct ShardParts {
  ShardParts(const ShardContext& context, std::unique_ptr<ShardStore> opened)
      : options(*context.options),
        clock(context.clock),
        counters(context.counters),
        names(context.names),
        hash(*context.hash),
        use(LockRank::kShard, opened->shard()),
        store(std::move(opened)),
        apply_lock(LockRank::kApply, store->shard()),
        ring(
            {options.ring_slots, options.slot_ms, options.slot_bytes_max, options.short_term_bytes},
            clock),
        users(store.get(), context.user_cache_bytes, counters),
        sequence(store->epoch() << 40) {}

  const Options& options;
  const ClockGuard* const clock;
  Counters* const counters;
  NameTable* const names;
  const ItemHash& hash;

  SharedLock use;
  const std::unique_ptr<ShardStore> store;
  SharedLock apply_lock;
  Ring ring;
  UserRecords users;
  Mutex marks_mutex{LockRank::kMarks, store->shard()};  // one change of a user's marks at a time
  ActiveDays days{store.get()};
  WrittenUsers written_users;
  Sources sources;
  Outbox outbox{store.get()};
  Mutex drain_mutex{LockRank::kDrain};  // one drain at a time
  std::atomic<uint64_t> sequence;       // the last one given
  std::atomic<uint64_t> row_writes{0};
  // Collections that take no writes for now (makings.h).
  std::set<std::string, std::less<>> stopped GUARDED_BY(apply_lock);
  // Of filter requests that record; taken before `use`.
  const std::shared_ptr<UserTurns> turns = std::make_shared<UserTurns>();
  UnfinishedErasures erasures;
  Traces traces;
  Upkeep upkeep{store->shard()};
  // Opened anew and not drained yet: what memory has may not be on disk. Changed alone in `use`.
  bool recovering GUARDED_BY(use) = false;
  struct Healing {
    Mutex mutex{LockRank::kHealing};            // of whoever opens the shard anew
    std::atomic<bool> running{false};           // read by anybody: others keep away meanwhile
    int tries GUARDED_BY(mutex) = 0;            // since it failed
    bool lacks_room GUARDED_BY(mutex) = false;  // as of the last try
    std::chrono::steady_clock::time_point next GUARDED_BY(mutex);
  } healing;

  /// The shard's next sequence.
  uint64_t NextSequence() { return sequence.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// A write that may have added, changed or taken rows of history has ended, whatever came of it.
  /// Who looks rows up without the apply lock notes `row_writes` before: what was found is what
  /// there is, as long as it has not grown once the looker holds the lock alone.
  void NoteRowWrite() REQUIRES_SHARED(apply_lock) {
    apply_lock.AssertHeldShared();
    row_writes.fetch_add(1);
  }
};

}  // namespace seendb
