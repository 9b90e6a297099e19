// When a bucket is made ahead of time, sealed and dropped, and what lies beyond the cap of a
// history evicted: by hand, or as it falls due.

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/durations.h"
#include "engine_impl.h"

namespace seendb {
namespace {

// From one look at the caps of history to the next: once a maintenance window.
constexpr int64_t kTrimPauseMs = 20 * 3'600'000;

}  // namespace

// ---- By hand ----

Status EngineImpl::Drain() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status healed = Heal();
  Status drained = InEachShard([](Shard& shard) { return shard.Drain(); });
  return healed.ok() ? drained : healed;
}

Status EngineImpl::Seal(std::string_view collection, std::string_view bucket) {
  const Status drained = Drain();
  if (!drained.ok()) return drained;
  const Result<CollectionPtr> found = FindCollection(collection);
  if (!found.ok()) return found.status();
  const Result<int64_t> index = BucketIndexOfLabel((*found)->policy, bucket);
  if (!index.ok()) return index.status();
  bool any = false;
  const Status sealed = InEachShard([&](Shard& shard) {
    return shard.Seal(**found, [&](const Bucket& b) {
      any = any || b.index == *index;
      return b.index == *index;
    });
  });
  if (sealed.ok() && !any) {
    return Status::NotFound("no bucket " + std::string(bucket) + " in " + std::string(collection),
                            "/bucket");
  }
  return sealed;
}

Status EngineImpl::SealClosed() {
  const Status drained = Drain();
  if (!drained.ok()) return drained;
  const Present now = clock_->Look();
  const Status believed = ClockGuard::Check(now);
  if (!believed.ok()) return believed;
  Status first = InEachCollection([&](Shard& shard, const Collection& collection) {
    return shard.Seal(collection, [&](const Bucket& bucket) {
      return bucket.end_ms <= now.ms && (!bucket.sealed || bucket.late_items > 0);
    });
  });
  Status trimmed = InEachCollection(
      [](Shard& shard, const Collection& collection) { return shard.TrimHistory(collection); });
  return first.ok() ? trimmed : first;
}

Status EngineImpl::DropExpired() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Present now = clock_->Look();
  const Status believed = ClockGuard::Check(now);
  if (!believed.ok()) return believed;
  Status first = InEachCollection([&](Shard& shard, const Collection& collection) {
    return shard.DropFilters(collection, [&](const Policy& policy) {
      return BucketIndexOf(policy, now.ms) - static_cast<int64_t>(policy.retention) + 1;
    });
  });
  Status history = InEachCollection([&](Shard& shard, const Collection& collection) {
    return shard.DropHistory(
        collection, [&](const Policy& policy) { return OldestHistoryBucket(policy, now.ms); });
  });
  return first.ok() ? history : first;
}

Status EngineImpl::Compact() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    const Status compacted = shard->Compact();
    if (!compacted.ok()) return compacted;
  }
  return {};
}

// ---- What falls due ----

Status EngineImpl::RunDue() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  Status first = Heal();
  Status drained = RotateAndDrain();
  if (first.ok()) first = std::move(drained);
  Status maintained = RunMaintenance();
  if (first.ok()) first = std::move(maintained);
  Status flushed = FlushUsers();
  return first.ok() ? flushed : first;
}

Status EngineImpl::CheckClock() const {
  const int64_t now = clock_->NowMs();
  if (now >= kFirstTimeMs && now <= kLastTimeMs) return {};
  return Status::InvalidArgument("the clock shows " + std::to_string(now) +
                                 " ms, no time of the years 1 to 9998");
}

Status EngineImpl::EnsureBuckets(bool opening) {
  const Status believed = CheckClock();
  if (!believed.ok()) return believed;
  const int64_t now = clock_->NowMs();
  return InEachCollection([&](Shard& shard, const Collection& collection) {
    const int64_t current = BucketIndexOf(collection.policy, now);
    const int64_t begin = BucketBeginMs(collection.policy, current);
    const int64_t end = BucketBeginMs(collection.policy, current + 1);
    const int64_t ahead = std::min(kMsPerDay, (end - begin) / 4);
    const int64_t wanted[] = {current, current + 1};
    return shard.EnsureBuckets(collection, std::span(wanted, now < end - ahead ? 1 : 2), opening);
  });
}

// The first instant from `from_ms` on that lies in the maintenance window.
int64_t EngineImpl::NextMaintenance(int64_t from_ms, const Policy& policy) const {
  const int64_t begin = options_.maintenance_begin_minute * kMsPerMinute;
  const int64_t end = options_.maintenance_end_minute * kMsPerMinute;
  if (begin == end) return from_ms;
  const int64_t local = from_ms + policy.utc_offset_minutes * kMsPerMinute;
  const int64_t of_day = ((local % kMsPerDay) + kMsPerDay) % kMsPerDay;
  const bool inside =
      begin < end ? of_day >= begin && of_day < end : of_day >= begin || of_day < end;
  if (inside) return from_ms;
  return from_ms + (begin - of_day + kMsPerDay) % kMsPerDay;
}

// Buckets whose history has expired are dropped, and once a day, within the window, what lies
// beyond the cap.
Status EngineImpl::MaintainHistory(int64_t now, const MaintenanceDue& due) {
  due_mutex_.AssertHeld();
  const Status dropped = InEachCollection([&](Shard& shard, const Collection& collection) {
    return shard.DropHistory(collection, [&](const Policy& policy) {
      int64_t oldest = OldestHistoryBucket(policy, now);
      const int64_t days_ms = policy.history.days * kMsPerDay;
      // A bucket expires when the last of its times is too old; not yet due ones stay.
      for (int tries = 0; tries < 200 && !due(BucketBeginMs(policy, oldest) + days_ms, policy);
           ++tries) {
        --oldest;
      }
      return oldest;
    });
  });
  std::set<std::string> to_trim;
  const std::shared_ptr<const CollectionMap> all = collections();
  for (const auto& [name, collection] : *all) {
    int64_t& last = trimmed_ms_[name];
    if (NextMaintenance(now, collection->policy) != now) continue;
    if (now >= last && now - last < kTrimPauseMs) continue;
    last = now;
    to_trim.insert(name);
  }
  const Status trimmed = InEachCollection([&](Shard& shard, const Collection& collection) {
    return to_trim.contains(collection.name) ? shard.TrimHistory(collection) : Status();
  });
  return dropped.ok() ? trimmed : dropped;
}

// Work of the maintenance window falls due at its first instant after the last run.
Status EngineImpl::RunMaintenance() {
  const MutexLock one(due_mutex_);
  const Present present = clock_->Look();
  if (present.in_doubt) return CheckClock();  // what is due is not known
  const int64_t now = present.ms;
  const int64_t since = maintained_to_ms_ + 1;
  const auto due = [&](int64_t from_ms, const Policy& policy) {
    return NextMaintenance(std::max(from_ms, since), policy) <= now;
  };
  Status first = EnsureBuckets();
  Status resumed = InEachShard([](Shard& shard) { return shard.ResumeErasures(); });
  if (first.ok()) first = std::move(resumed);
  const Status sealed = InEachCollection([&](Shard& shard, const Collection& collection) {
    return shard.Seal(collection, [&](const Bucket& bucket) {
      // One slot after the end, so that what was staged has been drained.
      if (!due(bucket.end_ms + options_.slot_ms, collection.policy)) return false;
      if (bucket.unreadable || !MaySeal(bucket, now)) return false;
      return !bucket.sealed || bucket.late_items >= 1'000;
    });
  });
  if (first.ok()) first = sealed;
  const Status dropped = InEachCollection([&](Shard& shard, const Collection& collection) {
    return shard.DropFilters(collection, [&](const Policy& policy) {
      const int64_t current = BucketIndexOf(policy, now);
      const auto retention = static_cast<int64_t>(policy.retention);
      int64_t oldest = current - retention + 1;
      // A bucket expires when the one `retention` after it begins; not yet due ones stay.
      while (oldest > current - retention - 200 &&
             !due(BucketBeginMs(policy, oldest - 1 + retention), policy)) {
        --oldest;
      }
      return oldest;
    });
  });
  if (first.ok()) first = dropped;
  const Status history = MaintainHistory(now, due);
  if (first.ok()) first = history;
  maintained_to_ms_ = now;
  return first;
}

}  // namespace seendb
