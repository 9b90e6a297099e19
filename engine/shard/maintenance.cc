#include "shard/maintenance.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/durations.h"
#include "seendb/counts.h"
#include "shard/buckets.h"
#include "shard/erase.h"
#include "shard/history_trim.h"
#include "shard/traces.h"
#include "shard/user_expiry.h"

namespace seendb {
namespace {

// From one run of what is done once a maintenance window to the next.
constexpr int64_t kDailyPauseMs = 20 * 3'600'000;

void KeepFirst(Status* first, Status status) {
  if (first->ok()) *first = std::move(status);
}

// The first instant from `from_ms` on that lies in the maintenance window.
int64_t NextMaintenance(const Options& options, int64_t from_ms, const Policy& policy) {
  const int64_t begin = options.maintenance_begin_minute * kMsPerMinute;
  const int64_t end = options.maintenance_end_minute * kMsPerMinute;
  if (begin == end) return from_ms;
  const int64_t local = from_ms + policy.utc_offset_minutes * kMsPerMinute;
  const int64_t of_day = ((local % kMsPerDay) + kMsPerDay) % kMsPerDay;
  const bool inside =
      begin < end ? of_day >= begin && of_day < end : of_day >= begin || of_day < end;
  if (inside) return from_ms;
  return from_ms + (begin - of_day + kMsPerDay) % kMsPerDay;
}

// Work of the maintenance window falls due at its first instant after the last run.
class DueWork {
 public:
  DueWork(ShardParts& shard, int64_t now_ms, int64_t since_ms)
      : shard_(shard), now_ms_(now_ms), since_ms_(since_ms) {}

  Status Seal(const Collection& of) const {
    shard_.use.AssertHeldShared();
    return SealBuckets(shard_, of, [&](const Bucket& bucket) {
      // One slot after the end, so that what was staged has been drained.
      if (!IsDue(bucket.end_ms + shard_.options.slot_ms, of.policy)) return false;
      if (bucket.unreadable || !MaySeal(bucket, now_ms_)) return false;
      return !bucket.sealed || bucket.late_items >= 1'000;
    });
  }
  Status DropFilters(const Collection& of) const {
    shard_.use.AssertHeldShared();
    return seendb::DropFilters(shard_, of, [this](const Policy& policy) {
      const auto retention = static_cast<int64_t>(policy.retention);
      // A bucket expires when the one `retention` after it begins.
      return NotYetDue(policy, OldestBucket(policy, now_ms_), [&](int64_t oldest) {
        return BucketBeginMs(policy, oldest - 1 + retention);
      });
    });
  }
  Status DropHistory(const Collection& of) const {
    shard_.use.AssertHeldShared();
    return seendb::DropHistory(shard_, of, [this](const Policy& policy) {
      const int64_t days_ms = policy.history.days * kMsPerDay;
      // A bucket expires when the last of its times is too old.
      return NotYetDue(policy, OldestHistoryBucket(policy, now_ms_),
                       [&](int64_t oldest) { return BucketBeginMs(policy, oldest) + days_ms; });
    });
  }
  Status TrimHistory(const Collection& of, int64_t* last_ms) const {
    shard_.use.AssertHeldShared();
    return IsDailyDue(of.policy, last_ms) ? seendb::TrimHistory(shard_, of) : Status();
  }
  Status DeleteOldErasures(const CollectionMap& collections, int64_t* last_ms) const {
    shard_.use.AssertHeldShared();
    if (!IsDailyDue({}, last_ms)) return {};
    return seendb::DeleteOldErasures(shard_, collections, now_ms_);
  }
  Status PurgeTraces(int64_t* last_ms) const {
    shard_.use.AssertHeldShared();
    return IsDailyDue({}, last_ms) ? PurgeTracesIfDue(shard_, now_ms_) : Status();
  }

 private:
  // Once a day, within the window. `*last_ms`: when it was due last.
  bool IsDailyDue(const Policy& policy, int64_t* last_ms) const {
    if (NextMaintenance(shard_.options, now_ms_, policy) != now_ms_) return false;
    if (now_ms_ >= *last_ms && now_ms_ - *last_ms < kDailyPauseMs) return false;
    *last_ms = now_ms_;
    return true;
  }
  bool IsDue(int64_t from_ms, const Policy& policy) const {
    return NextMaintenance(shard_.options, std::max(from_ms, since_ms_), policy) <= now_ms_;
  }
  // The oldest bucket that stays: of those below `oldest` the newest whose expiry is not due yet
  // stay as well.
  template <typename ExpiryOf>
  int64_t NotYetDue(const Policy& policy, int64_t oldest, const ExpiryOf& expiry_of) const {
    for (int tries = 0; tries < 200 && !IsDue(expiry_of(oldest), policy); ++tries) --oldest;
    return oldest;
  }

  ShardParts& shard_;
  const int64_t now_ms_, since_ms_;
};

// Merges and compactions take what is too old from now on. Answers don't wait for them.
void ForgetOldEvents(const ShardParts& shard, int64_t now_ms) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  if (families->own_rules != nullptr) families->own_rules->ended_by_ms = now_ms;
  for (const auto& [name, of] : families->collections) {
    if (of.exposure_rules != nullptr) {
      of.exposure_rules->forget_before_ms = now_ms - int64_t{of.policy.exposures.days} * kMsPerDay;
    }
    if (of.count_rules != nullptr) of.count_rules->forget_before_ms = now_ms - kCountedForMs;
  }
}

}  // namespace

Status EnsureBuckets(const ShardParts& shard, const CollectionMap& collections, bool at_once) {
  const int64_t now = shard.clock->NowMs();
  Status first = CheckCalendar(now);
  if (!first.ok()) return first;
  for (const auto& [name, collection] : collections) {
    const Policy& policy = collection->policy;
    const int64_t current = BucketIndexOf(policy, now);
    const int64_t begin = BucketBeginMs(policy, current);
    const int64_t end = BucketBeginMs(policy, current + 1);
    const int64_t ahead = std::min(kMsPerDay, (end - begin) / 4);
    const int64_t wanted[] = {current, current + 1};
    KeepFirst(&first, MakeBuckets(shard, *collection, std::span(wanted, now < end - ahead ? 1 : 2),
                                  at_once));
  }
  return first;
}

void BeginMaintenance(ShardParts& shard) {
  const MutexLock one(shard.upkeep.mutex);
  shard.upkeep.done_to_ms = shard.clock->NowMs();
}

Status MaintainIfDue(ShardParts& shard, const CollectionMap& collections) {
  shard.upkeep.mutex.AssertHeld();
  shard.use.AssertHeldShared();
  const Present now = shard.clock->Look();
  if (now.in_doubt) return CheckCalendar(now.ms);  // what is due is not known
  const DueWork due(shard, now.ms, shard.upkeep.done_to_ms + 1);
  Status first = EnsureBuckets(shard, collections, false);
  KeepFirst(&first, ResumeErasures(shard));
  ForgetOldEvents(shard, now.ms);
  for (const auto& [name, of] : collections) KeepFirst(&first, due.Seal(*of));
  for (const auto& [name, of] : collections) KeepFirst(&first, due.DropFilters(*of));
  for (const auto& [name, of] : collections) KeepFirst(&first, due.DropHistory(*of));
  for (const auto& [name, of] : collections) {
    KeepFirst(&first, due.TrimHistory(*of, &shard.upkeep.trimmed_ms[name]));
  }
  // Before records of erasures leave, which say what is to be purged.
  KeepFirst(&first, due.PurgeTraces(&shard.upkeep.purged_ms));
  KeepFirst(&first, due.DeleteOldErasures(collections, &shard.upkeep.erasures_ms));
  shard.upkeep.done_to_ms = now.ms;
  return first;
}

}  // namespace seendb
