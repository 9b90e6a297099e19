// Drains, seals and drops by hand.

#include "base/return_if_failed.h"
#include "engine_impl.h"

namespace seendb {
namespace {

// Runs `work(shard, collection)` for every collection in every shard. The first failure.
template <typename Work>
Status InEachCollection(const Catalog& catalog, const Shards& shards, const Work& work) {
  Status first;
  const std::shared_ptr<const CollectionMap> all = catalog.All();
  for (const auto& [name, collection] : *all) {
    Status done =
        shards.InEach([&, &of = *collection](Shard& shard) -> Status { return work(shard, of); });
    if (first.ok() && !done.ok()) first = std::move(done);
  }
  return first;
}

}  // namespace

Status EngineImpl::Drain() {
  RETURN_IF_FAILED(CheckWritable());
  const Status healed = Heal();
  const Status drained = shards_.InEach([](Shard& shard) {
    Status status = shard.upkeep().Drain();
    return status.ok() ? shard.upkeep().PurgeTraces() : status;
  });
  return healed.ok() ? drained : healed;
}

Status EngineImpl::Seal(std::string_view collection, std::string_view bucket) {
  RETURN_IF_FAILED(Drain());
  const Result<CollectionPtr> found = catalog_.Find(collection);
  if (!found.ok()) return found.status();
  const Result<int64_t> index = BucketIndexOfLabel((*found)->policy, bucket);
  if (!index.ok()) return index.status();
  bool any = false;
  const Status sealed = shards_.InEach([&](Shard& shard) {
    return shard.upkeep().Seal(**found, [&](const Bucket& b) {
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
  RETURN_IF_FAILED(Drain());
  const Present now = clock_->Look();
  RETURN_IF_FAILED(ClockGuard::Check(now));
  Status first =
      InEachCollection(catalog_, shards_, [&](Shard& shard, const Collection& collection) {
        return shard.upkeep().Seal(collection, [&](const Bucket& bucket) {
          return bucket.end_ms <= now.ms && (!bucket.sealed || bucket.late_items > 0);
        });
      });
  Status trimmed =
      InEachCollection(catalog_, shards_, [](Shard& shard, const Collection& collection) {
        return shard.upkeep().TrimHistory(collection);
      });
  return first.ok() ? trimmed : first;
}

Status EngineImpl::DropExpired() {
  RETURN_IF_FAILED(CheckWritable());
  const Present now = clock_->Look();
  RETURN_IF_FAILED(ClockGuard::Check(now));
  Status first =
      InEachCollection(catalog_, shards_, [&](Shard& shard, const Collection& collection) {
        return shard.upkeep().DropFilters(
            collection, [&](const Policy& policy) { return OldestBucket(policy, now.ms); });
      });
  Status history =
      InEachCollection(catalog_, shards_, [&](Shard& shard, const Collection& collection) {
        return shard.upkeep().DropHistory(
            collection, [&](const Policy& policy) { return OldestHistoryBucket(policy, now.ms); });
      });
  return first.ok() ? history : first;
}

Status EngineImpl::Compact() {
  RETURN_IF_FAILED(CheckWritable());
  const std::shared_ptr<const ShardSet> all = shards_.All();
  for (const std::shared_ptr<Shard>& shard : *all) {
    RETURN_IF_FAILED(shard == nullptr ? Status() : shard->upkeep().Compact());
  }
  return {};
}

}  // namespace seendb
