// The life of slots and buckets: rotation, drain, creation ahead of time, sealing, dropping; by
// hand, or on background threads.

#include <algorithm>
#include <chrono>
#include <set>
#include <type_traits>

#include "engine_impl.h"

namespace seendb {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kDayMs = 86'400'000;
// How often background threads look for work.
constexpr int64_t kLookMs = 250;
// From a seal that failed to the next try: twice as long each time.
constexpr int64_t kFirstSealPauseMs = 10'000;
constexpr int64_t kLongestSealPauseMs = 3'600'000;
// From one look at the caps of history to the next: once a maintenance window.
constexpr int64_t kTrimPauseMs = 20 * 3'600'000;

// Whether a bucket whose seal failed has rested. A clock that went back makes nobody wait.
bool MaySeal(const Bucket& bucket, int64_t now_ms) {
  const uint32_t tries = bucket.seal_tries;
  const int64_t since_ms = now_ms - bucket.seal_failed_ms;
  const int64_t pause_ms =
      std::min(kFirstSealPauseMs << std::min(tries - 1, 20U), kLongestSealPauseMs);
  return tries == 0 || since_ms < 0 || since_ms >= pause_ms;
}

// How the problem of this bucket begins.
std::string SealProblem(const std::string& collection, const Bucket& bucket) {
  return kSealProblem + collection + "/" + bucket.label + ": ";
}

}  // namespace

// ---- By hand ----

Status EngineImpl::Drain() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status healed = Heal();
  Status drained = InEachShard([](Shard& shard) {
    shard.ring->Rotate();
    return shard.ring->DrainClosed();
  });
  return healed.ok() ? drained : healed;
}

Status EngineImpl::RotateAndDrain() {
  return InEachShard([](Shard& shard) {
    shard.ring->RotateIfDue();
    return shard.ring->DrainClosed();
  });
}

Status EngineImpl::Seal(std::string_view collection, std::string_view bucket) {
  const Status drained = Drain();
  if (!drained.ok()) return drained;
  const Result<Collection> found = FindCollection(collection);
  if (!found.ok()) return found.status();
  const Result<int64_t> index = BucketIndexOfLabel(found->policy, bucket);
  if (!index.ok()) return index.status();
  bool any = false;
  const Status sealed = SealWhere([&](const Collection& c, const Bucket& b) {
    const bool wanted = c.name == collection && b.index == *index;
    any = any || wanted;
    return wanted;
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
  const int64_t now = clock_->NowMs();
  Status first = SealWhere([&](const Collection&, const Bucket& bucket) {
    return bucket.end_ms <= now && (!bucket.sealed || bucket.late_items > 0);
  });
  Status trimmed = TrimHistory([](const Collection&) { return true; });
  return first.ok() ? trimmed : first;
}

Status EngineImpl::SealWhere(const std::function<bool(const Collection&, const Bucket&)>& wanted) {
  return InEachFamily(
      [&](const Collection& collection, Shard& shard, const CollectionFamilies& family) {
        Status first;
        for (const auto& [index, bucket] : family.buckets) {
          if (!wanted(collection, *bucket)) continue;
          Status sealed = shard.store->Seal(collection.name, bucket);
          NoteSeal(shard, collection.name, bucket.get(), sealed);
          if (first.ok()) first = std::move(sealed);
        }
        return first;
      });
}

// What failed stays a problem until the bucket is sealed, if maintenance is to seal it. Given up
// for closing is no failure; what stops the shard is a problem of its own.
void EngineImpl::NoteSeal(const Shard& shard, const std::string& collection, Bucket* bucket,
                          const Status& sealed) {
  if (sealed.code() == StatusCode::kUnavailable) return;
  const std::string prefix = SealProblem(collection, *bucket);
  shard.store->ClearProblems(prefix);
  if (sealed.ok()) {
    bucket->seal_tries = 0;
    counters_.buckets_sealed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ++bucket->seal_tries;
  bucket->seal_failed_ms = clock_->NowMs();
  counters_.seal_failures.fetch_add(1, std::memory_order_relaxed);
  const bool lasts = bucket->end_ms <= bucket->seal_failed_ms && shard.store->CheckWritable().ok();
  if (lasts) shard.store->AddProblem(prefix + sealed.ToString());
}

Status EngineImpl::DropExpired() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const int64_t now = clock_->NowMs();
  Status first = DropWhere(&CollectionFamilies::buckets, [&](const Collection& collection) {
    return BucketIndexOf(collection.policy, now) -
           static_cast<int64_t>(collection.policy.retention) + 1;
  });
  Status history = DropWhere(&CollectionFamilies::history, [&](const Collection& collection) {
    return OldestHistoryBucket(collection.policy, now);
  });
  return first.ok() ? history : first;
}

template <typename OneBucket>
Status EngineImpl::DropWhere(BucketsOf<OneBucket> CollectionFamilies::*buckets,
                             const std::function<int64_t(const Collection&)>& oldest_kept) {
  return InEachFamily(
      [&](const Collection& collection, Shard& shard, const CollectionFamilies& family) -> Status {
        const int64_t oldest = oldest_kept(collection);
        if ((family.*buckets).empty() || (family.*buckets).rbegin()->first >= oldest) return {};
        Status writable = shard.store->CheckWritable();
        if (!writable.ok()) return writable;
        std::vector<std::shared_ptr<OneBucket>> expired;
        {
          const Gate::Exclusive alone(shard.ring->gate());
          expired = shard.store->Unpublish(buckets, collection.name, oldest);
        }
        Status dropped = shard.store->Drop(collection.name, expired);
        if constexpr (std::is_same_v<OneBucket, Bucket>) {  // history's have no seals, nor a count
          for (const auto& bucket : expired) {
            shard.store->ClearProblems(SealProblem(collection.name, *bucket));
          }
          if (dropped.ok()) {
            counters_.buckets_dropped.fetch_add(expired.size(), std::memory_order_relaxed);
          }
        }
        return dropped;
      });
}

Status EngineImpl::Compact() {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  for (Shard& shard : shards_) {
    const Gate::Scope inside(*shard.use);
    const Status compacted = shard.store->CompactAll();
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
  return first.ok() ? maintained : first;
}

Status EngineImpl::CheckClock() const {
  const int64_t now = clock_->NowMs();
  if (now >= kFirstTimeMs && now <= kLastTimeMs) return {};
  return Status::InvalidArgument("the clock shows " + std::to_string(now) +
                                 " ms, no time of the years 1 to 9998");
}

Status EngineImpl::EnsureBuckets() {
  Status first = CheckClock();
  if (!first.ok()) return first;
  const int64_t now = clock_->NowMs();
  const std::shared_ptr<const CollectionMap> all = collections();
  for (const auto& [name, collection] : *all) {
    const int64_t current = BucketIndexOf(collection.policy, now);
    const int64_t begin = BucketBeginMs(collection.policy, current);
    const int64_t end = BucketBeginMs(collection.policy, current + 1);
    const int64_t ahead = std::min(kDayMs, (end - begin) / 4);
    const bool with_history = collection.policy.history.enabled;
    Status made = InEachShard([&, &of = name](Shard& shard) {
      Result<std::shared_ptr<Bucket>> bucket = shard.store->EnsureBucket(of, current);
      if (bucket.ok() && now >= end - ahead) {
        bucket = shard.store->EnsureBucket(of, current + 1);
      }
      if (!bucket.ok() || !with_history) return bucket.status();
      Result<std::shared_ptr<HistoryBucket>> history =
          shard.store->EnsureHistoryBucket(of, current);
      if (history.ok() && now >= end - ahead) {
        history = shard.store->EnsureHistoryBucket(of, current + 1);
      }
      return history.status();
    });
    if (first.ok()) first = std::move(made);
  }
  return first;
}

// The first instant from `from_ms` on that lies in the maintenance window.
int64_t EngineImpl::NextMaintenance(int64_t from_ms, const Policy& policy) const {
  const int64_t begin = options_.maintenance_begin_minute * kMinuteMs;
  const int64_t end = options_.maintenance_end_minute * kMinuteMs;
  if (begin == end) return from_ms;
  const int64_t local = from_ms + policy.utc_offset_minutes * kMinuteMs;
  const int64_t of_day = ((local % kDayMs) + kDayMs) % kDayMs;
  const bool inside =
      begin < end ? of_day >= begin && of_day < end : of_day >= begin || of_day < end;
  if (inside) return from_ms;
  return from_ms + (begin - of_day + kDayMs) % kDayMs;
}

// Buckets whose history has expired are dropped, and once a day, within the window, what lies
// beyond the cap. Precondition: due_mutex_ held.
Status EngineImpl::MaintainHistory(int64_t now, const MaintenanceDue& due) {
  const Status dropped = DropWhere(&CollectionFamilies::history, [&](const Collection& collection) {
    const Policy& policy = collection.policy;
    int64_t oldest = OldestHistoryBucket(policy, now);
    const int64_t days_ms = policy.history.days * kDayMs;
    // A bucket expires when the last of its times is too old; not yet due ones stay.
    for (int tries = 0; tries < 200 && !due(BucketBeginMs(policy, oldest) + days_ms, policy);
         ++tries) {
      --oldest;
    }
    return oldest;
  });
  std::set<std::string> to_trim;
  const std::shared_ptr<const CollectionMap> all = collections();
  for (const auto& [name, collection] : *all) {
    int64_t& last = trimmed_ms_[name];
    if (NextMaintenance(now, collection.policy) != now) continue;
    if (now >= last && now - last < kTrimPauseMs) continue;
    last = now;
    to_trim.insert(name);
  }
  const Status trimmed =
      TrimHistory([&](const Collection& collection) { return to_trim.contains(collection.name); });
  return dropped.ok() ? trimmed : dropped;
}

// Work of the maintenance window falls due at its first instant after the last run.
Status EngineImpl::RunMaintenance() {
  const std::lock_guard one(due_mutex_);
  const int64_t now = clock_->NowMs();
  const int64_t since = maintained_to_ms_ + 1;
  const auto due = [&](int64_t from_ms, const Policy& policy) {
    return NextMaintenance(std::max(from_ms, since), policy) <= now;
  };
  Status first = EnsureBuckets();
  const Status sealed = SealWhere([&](const Collection& collection, const Bucket& bucket) {
    // One slot after the end, so that what was staged has been drained.
    if (!due(bucket.end_ms + options_.slot_ms, collection.policy)) return false;
    if (bucket.unreadable || !MaySeal(bucket, now)) return false;
    return !bucket.sealed || bucket.late_items >= 1'000;
  });
  if (first.ok()) first = sealed;
  const Status dropped = DropWhere(&CollectionFamilies::buckets, [&](const Collection& collection) {
    const int64_t current = BucketIndexOf(collection.policy, now);
    const auto retention = static_cast<int64_t>(collection.policy.retention);
    int64_t oldest = current - retention + 1;
    // A bucket expires when the one `retention` after it begins; not yet due ones stay.
    while (oldest > current - retention - 200 &&
           !due(BucketBeginMs(collection.policy, oldest - 1 + retention), collection.policy)) {
      --oldest;
    }
    return oldest;
  });
  if (first.ok()) first = dropped;
  const Status history = MaintainHistory(now, due);
  if (first.ok()) first = history;
  maintained_to_ms_ = now;
  return first;
}

// ---- Background ----

void EngineImpl::BackgroundLoop(const char* name, int64_t every_ms,
                                const std::function<Status()>& work) {
  const std::string prefix = std::string(name) + ": ";
  std::unique_lock lock(background_mutex_);
  while (!background_wake_.wait_for(lock, std::chrono::milliseconds(every_ms),
                                    [this] { return stopping_; })) {
    lock.unlock();
    const Status status = work();
    shards_[0].store->ClearProblems(prefix);  // what went wrong last time, if it still does, is new
    if (!status.ok()) {
      counters_.background_errors.fetch_add(1, std::memory_order_relaxed);
      shards_[0].store->AddProblem(prefix + status.ToString());
    }
    lock.lock();
  }
}

// Apart, so that a long seal delays no drain and a long drain no sync.
void EngineImpl::StartBackground() {
  const auto start = [this](const char* name, int64_t every_ms, Status (EngineImpl::*work)()) {
    threads_.emplace_back([this, name, every_ms, work] {
      BackgroundLoop(name, every_ms, [this, work] { return (this->*work)(); });
    });
  };
  start("sync", options_.sync_interval_ms, &EngineImpl::Sync);
  start("drain", kLookMs, &EngineImpl::RotateAndDrain);
  start("healing", kLookMs, &EngineImpl::Heal);
  start("maintenance", kLookMs, &EngineImpl::RunMaintenance);
}

void EngineImpl::StopBackground() {
  {
    const std::lock_guard lock(background_mutex_);
    stopping_ = true;
  }
  background_wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace seendb
