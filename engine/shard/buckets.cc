#include "shard/buckets.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/pause_point.h"
#include "base/return_if_failed.h"

namespace seendb {
namespace {

// The pause after a failed seal; each further failure doubles it.
constexpr int64_t kFirstSealPauseMs = 10'000;
constexpr int64_t kLongestSealPauseMs = 3'600'000;

// The longest rest after a family was made or dropped.
constexpr std::chrono::milliseconds kLongestRest{20};

// Pauses after each family of a shard that was made or dropped, as long as that took and at most
// kLongestRest. RocksDB holds the shard's writes back while it makes or drops a family; the pause
// lets the writes that waited go first.
class FamilyPacer {
 public:
  explicit FamilyPacer(const ShardStore& store)
      : store_(store), families_(store.database().family_count()) {}
  void Rest() {
    const uint32_t families = store_.database().family_count();
    if (std::exchange(families_, families) != families) {
      std::this_thread::sleep_for(std::min<Steady::duration>(Steady::now() - begin_, kLongestRest));
    }
    begin_ = Steady::now();
  }

 private:
  using Steady = std::chrono::steady_clock;
  const ShardStore& store_;
  uint32_t families_;
  Steady::time_point begin_ = Steady::now();
};

// How the problem of this bucket begins.
std::string SealProblem(const std::string& collection, const Bucket& bucket) {
  return kSealProblem + collection + "/" + bucket.label + ": ";
}

// Notes how a seal ended. A failure is reported as a problem until a seal succeeds, if the bucket
// has ended, so that maintenance seals it. kUnavailable is no failure: the shard is being closed.
// What stopped the whole shard is reported elsewhere.
void NoteSeal(const ShardParts& shard, const std::string& collection, Bucket* bucket,
              const Status& sealed) {
  if (sealed.code() == StatusCode::kUnavailable) return;
  const std::string prefix = SealProblem(collection, *bucket);
  shard.store->problems().Clear(prefix);
  if (sealed.ok()) {
    bucket->seal_tries = 0;
    shard.counters->buckets_sealed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ++bucket->seal_tries;
  bucket->seal_failed_ms = shard.clock->NowMs();
  shard.counters->seal_failures.fetch_add(1, std::memory_order_relaxed);
  const bool lasts = bucket->end_ms <= bucket->seal_failed_ms && shard.store->CheckWritable().ok();
  if (lasts) shard.store->problems().Add(prefix + sealed.ToString());
}

// Notes on disk which buckets are gone, before they are dropped: the clock may be set back later.
template <typename OneBucket>
Status NoteGone(const ShardParts& shard, const std::string& collection, const OneBucket& newest) {
  if constexpr (std::is_same_v<OneBucket, Bucket>) {
    return shard.store->tables().NoteFiltersGone(collection, newest.index);
  } else {
    return shard.store->tables().NoteHistoryGone(collection, newest.end_ms - 1);
  }
}

// Drops those of a collection's `buckets` that are below the oldest kept.
template <typename OneBucket>
Status DropWhere(ShardParts& shard, const Collection& collection,
                 BucketsOf<OneBucket> CollectionFamilies::*buckets, const OldestKept& oldest_kept)
    EXCLUDES(shard.apply_lock) {
  const std::string& name = collection.name;
  const std::shared_ptr<const FamilySet> all = shard.store->families();
  const CollectionFamilies* const family = all->Find(name);
  if (family == nullptr) return {};
  const int64_t oldest = oldest_kept(collection.policy);
  if ((family->*buckets).empty() || (family->*buckets).rbegin()->first >= oldest) return {};
  RETURN_IF_FAILED(shard.store->CheckWritable());
  const auto newest = (family->*buckets).lower_bound(oldest - 1);
  Status noted = NoteGone(shard, name, *newest->second);
  if (!noted.ok()) return noted;
  std::vector<std::shared_ptr<OneBucket>> expired;
  {
    const SharedLock::Exclusive alone(shard.apply_lock);
    // Plays may have gone by a longer retention since: what it keeps stays.
    const std::shared_ptr<const FamilySet> families = shard.store->families();
    const CollectionFamilies* const known = families->Find(name);
    if (known == nullptr) return {};
    expired = shard.store->tables().Unpublish(buckets, name,
                                              std::min(oldest, oldest_kept(known->policy)));
  }
  SEENDB_PAUSE_POINT("drop: unpublished");
  for (const auto& bucket : expired) {  // one may have been made since
    noted = NoteGone(shard, name, *bucket);
    if (noted.ok()) continue;
    shard.store->tables().AbandonDrop(name, expired);
    return noted;
  }
  Status dropped;
  FamilyPacer pacer(*shard.store);
  for (const auto& bucket : expired) {
    dropped = shard.store->tables().Drop(name, {bucket});
    if (!dropped.ok()) break;
    pacer.Rest();
  }
  if (!dropped.ok()) shard.store->tables().AbandonDrop(name, expired);
  if constexpr (std::is_same_v<OneBucket, Bucket>) {  // history's have no seals, nor a count
    for (const auto& bucket : expired) shard.store->problems().Clear(SealProblem(name, *bucket));
    if (dropped.ok()) {
      shard.counters->buckets_dropped.fetch_add(expired.size(), std::memory_order_relaxed);
    }
  }
  return dropped;
}

}  // namespace

// After the clock went back there is no pause.
bool MaySeal(const Bucket& bucket, int64_t now_ms) {
  const uint32_t tries = bucket.seal_tries;
  const int64_t since_ms = now_ms - bucket.seal_failed_ms;
  const int64_t pause_ms =
      std::min(kFirstSealPauseMs << std::min(tries - 1, 20U), kLongestSealPauseMs);
  return tries == 0 || since_ms < 0 || since_ms >= pause_ms;
}

Status MakeBuckets(const ShardParts& shard, const Collection& collection,
                   std::span<const int64_t> wanted, bool at_once) {
  if (shard.store->families()->Find(collection.name) == nullptr) return {};  // deleted meanwhile
  FamilyPacer pacer(*shard.store);
  for (const int64_t index : wanted) {
    RETURN_IF_FAILED(shard.store->tables().EnsureBucket(collection.name, index).status());
    if (!at_once) pacer.Rest();
    if (!collection.policy.history.enabled) continue;
    RETURN_IF_FAILED(shard.store->tables().EnsureHistoryBucket(collection.name, index).status());
    if (!at_once) pacer.Rest();
  }
  return {};
}

Status SealBuckets(const ShardParts& shard, const Collection& collection,
                   const std::function<bool(const Bucket&)>& wanted) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const family = families->Find(collection.name);
  if (family == nullptr) return {};
  Status first;
  for (const auto& [index, bucket] : family->buckets) {
    if (!wanted(*bucket)) continue;
    Status sealed = shard.store->tables().Seal(collection.name, bucket);
    NoteSeal(shard, collection.name, bucket.get(), sealed);
    if (first.ok()) first = std::move(sealed);
  }
  return first;
}

Status DropFilters(ShardParts& shard, const Collection& collection, const OldestKept& oldest_kept) {
  return DropWhere(shard, collection, &CollectionFamilies::buckets, oldest_kept);
}

Status DropHistory(ShardParts& shard, const Collection& collection, const OldestKept& oldest_kept) {
  return DropWhere(shard, collection, &CollectionFamilies::history, oldest_kept);
}

}  // namespace seendb
