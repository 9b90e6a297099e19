#include "shard/user_expiry.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/return_if_failed.h"
#include "shard/replay.h"
#include "shard/traces.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kAtOnce = 64;

// What an erasure has to be older than.
struct Horizon {
  int64_t at_ms = 0;
  uint64_t sequence = 0;

  // Whether the record tells of nothing else, and of nothing that can still matter.
  bool IsPast(const UserRecord& record) const {
    UserRecord erasure;
    erasure.erased_seq = record.erased_seq;
    erasure.erased_at_ms = record.erased_at_ms;
    erasure.forget_before_ms = record.forget_before_ms;
    return record == erasure && record.erased_seq < sequence && record.erased_at_ms < at_ms;
  }
};

Result<Horizon> HorizonOf(const ShardStore& store, const CollectionMap& collections,
                          int64_t now_ms) {
  Horizon horizon{.at_ms = now_ms};
  for (const auto& [name, collection] : collections) {
    const Policy& policy = collection->policy;
    // What is too old by a clock that is ahead may be none of that once the clock is set right.
    const int64_t surely_ms = now_ms - policy.max_future_ms;
    int64_t oldest = BucketBeginMs(policy, OldestBucket(policy, surely_ms));
    if (policy.history.enabled) {
      oldest = std::min(oldest, BucketBeginMs(policy, OldestHistoryBucket(policy, surely_ms)));
    }
    horizon.at_ms = std::min(horizon.at_ms, oldest);
  }
  const Result<uint64_t> first = FirstJournalled(store);
  if (!first.ok()) return first.status();
  // What an erasure left is still found by its record.
  const Result<uint64_t> purged = PurgedSequence(store);
  if (!purged.ok()) return purged.status();
  horizon.sequence = std::min(*first, *purged + 1);
  return horizon;
}

Status DeletePiece(ShardParts& shard, const std::vector<std::string>& users, const Horizon& horizon)
    REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock) {
  const auto each = [&](const auto& visit) {
    for (const std::string& user : users) visit(user);
  };
  const auto work = [&](const LoadedRecords& known) -> Status {
    rocksdb::WriteBatch batch;
    std::vector<std::string_view> gone;
    for (const std::string& user : users) {
      const UserRecord* const record = known.Find(user);
      if (record == nullptr || !horizon.IsPast(*record)) continue;  // it has changed since
      batch.Delete(shard.store->users(), user).PermitUncheckedError();
      gone.push_back(user);
    }
    if (gone.empty()) return {};
    RETURN_IF_FAILED(FromRocks(shard.store->db()->Write(NotSynced(), &batch),
                               "delete the records of old erasures"));
    shard.traces.erasures.fetch_add(1);
    for (const std::string_view user : gone) shard.users.Forget(user);
    return {};
  };
  return WithRecordsOf<SharedLock::Exclusive>(each, shard.users, shard.apply_lock, work);
}

}  // namespace

Status DeleteOldErasures(ShardParts& shard, const CollectionMap& collections, int64_t now_ms) {
  shard.use.AssertHeldShared();
  if (!shard.store->CheckWritable().ok()) return {};  // it is opened anew first
  {
    const MutexLock lock(shard.erasures.mutex);
    if (!shard.erasures.users.empty()) return {};  // their rows are still to go
  }
  const Result<Horizon> horizon = HorizonOf(*shard.store, collections, now_ms);
  if (!horizon.ok()) return horizon.status();
  Status first;
  std::vector<std::string> old;
  const auto delete_piece = [&] {
    shard.use.AssertHeldShared();
    if (first.ok() && !old.empty()) first = DeletePiece(shard, old, *horizon);
    old.clear();
  };
  const Status read = shard.users.ForEach({}, [&](std::string_view user, const UserRecord& record) {
    if (!horizon->IsPast(record)) return true;
    old.emplace_back(user);
    if (old.size() >= kAtOnce) delete_piece();
    return first.ok();
  });
  delete_piece();
  return first.ok() ? read : first;
}

}  // namespace seendb
