#include "shard/shard_upkeep.h"

#include "shard/drain.h"
#include "shard/entry.h"
#include "shard/heal.h"
#include "shard/history_trim.h"
#include "shard/maintenance.h"
#include "shard/traces.h"

namespace seendb {

Status ShardUpkeep::Begin(const CollectionMap& collections) {
  BeginMaintenance(parts_);
  if (parts_.options.read_only || parts_.clock->Look().in_doubt) return {};
  const SharedLock::Shared inside(parts_.use);
  return EnsureBuckets(parts_, collections, true);
}

Status ShardUpkeep::Sync(bool* passed_over) {
  Status synced;
  const auto sync = [&] { synced = parts_.store->SyncWal(); };
  if (passed_over != nullptr) {
    *passed_over = !TryInside(parts_, sync);
    return synced;
  }
  const SharedLock::Shared inside(parts_.use);
  sync();
  return synced;
}

Status ShardUpkeep::Drain() {
  const SharedLock::Shared inside(parts_.use);
  parts_.ring.Rotate();
  return DrainClosed(parts_);
}

Status ShardUpkeep::DrainIfDue() {
  Status drained;
  TryInside(parts_, [&] {
    parts_.ring.RotateIfDue();
    drained = DrainClosed(parts_);
  });
  // Calls that still write into the slot are waited for next time.
  return drained.code() == StatusCode::kBusy ? Status() : drained;
}

Status ShardUpkeep::NoteClock(int64_t now_ms) {
  Status noted;
  TryInside(parts_, [&] { noted = parts_.store->NoteClock(now_ms); });
  return noted;
}

Status ShardUpkeep::FlushUsers() {
  Status flushed;
  TryInside(parts_, [&] { flushed = parts_.users.FlushIfChanged(); });
  return flushed;
}

Status ShardUpkeep::Maintain(const CollectionMap& collections) {
  const MutexLock one(parts_.upkeep.mutex);
  Status maintained;
  TryInside(parts_, [&] {
    parts_.use.AssertHeldShared();
    parts_.upkeep.mutex.AssertHeld();
    maintained = MaintainIfDue(parts_, collections);
  });
  return maintained;
}

Status ShardUpkeep::HealIfDue(bool wait, bool* healed) {
  if (!wait && !WantsHealing(parts_)) return {};
  return seendb::HealIfDue(parts_, healed);
}

Status ShardUpkeep::Seal(const Collection& collection,
                         const std::function<bool(const Bucket&)>& wanted) {
  const SharedLock::Shared inside(parts_.use);
  return SealBuckets(parts_, collection, wanted);
}

Status ShardUpkeep::DropFilters(const Collection& collection, const OldestKept& oldest_kept) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::DropFilters(parts_, collection, oldest_kept);
}

Status ShardUpkeep::DropHistory(const Collection& collection, const OldestKept& oldest_kept) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::DropHistory(parts_, collection, oldest_kept);
}

Status ShardUpkeep::TrimHistory(const Collection& collection) {
  const SharedLock::Shared inside(parts_.use);
  return seendb::TrimHistory(parts_, collection);
}

Status ShardUpkeep::Compact() {
  const SharedLock::Shared inside(parts_.use);
  Status status = parts_.store->tables().CompactAll();
  return status.ok() ? seendb::PurgeTraces(parts_) : status;
}

Status ShardUpkeep::PurgeTraces() {
  const SharedLock::Shared inside(parts_.use);
  return seendb::PurgeTraces(parts_);
}

}  // namespace seendb
