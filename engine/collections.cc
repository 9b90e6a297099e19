// Collections and their policies.

#include <algorithm>

#include "engine_impl.h"
#include "history_whole.h"

namespace seendb {
namespace {

// Families a shard may need for a collection: impressions, each bucket kept, one being dropped,
// one made ahead, and those that plays of the future reach; of history two a bucket.
uint64_t FamiliesOf(const Policy& policy) {
  constexpr int64_t kShortestMonthDays = 28;
  const int64_t days =
      policy.bucket.kind == BucketKind::kMonth ? kShortestMonthDays : policy.bucket.days;
  const auto reached = static_cast<uint64_t>(policy.max_future_ms / (days * 86'400'000) + 1);
  const uint64_t filters = policy.retention + 2 + reached;
  if (!policy.history.enabled) return filters;
  const uint64_t kept = policy.history.days / static_cast<uint64_t>(days) + 2;
  return filters + 2 * (kept + 2 + reached);
}

}  // namespace

Status EngineImpl::PutCollection(std::string_view name, const PolicyPatch& patch) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status named = ValidateCollectionName(name);
  if (!named.ok()) return named;
  const std::lock_guard change(admin_mutex_);
  const std::shared_ptr<const CollectionMap> current = collections();
  // The first shard's word holds also where the others did not hear of it: a creation that failed
  // half way may have made families already.
  Policy policy;
  {
    const Gate::Scope inside(*shards_[0].use);
    const Status stored_to = shards_[0].store->CheckWritable();
    if (!stored_to.ok()) return stored_to;
    const std::shared_ptr<const FamilySet> stored = shards_[0].store->families();
    if (const CollectionFamilies* known = stored->Find(name)) {
      const Status fixed = CheckFixedFields(known->policy, patch);
      if (!fixed.ok()) return fixed;
      policy = known->policy;
    }
  }
  policy = ApplyPatch(policy, patch);
  const Status valid = ValidatePolicy(policy);
  if (!valid.ok()) return valid;

  uint64_t families = options_.ring_slots + 2 + FamiliesOf(policy);
  for (const auto& [other, collection] : *current) {
    if (other != name) families += FamiliesOf(collection.policy);
  }
  if (families > options_.max_column_families) {
    return Status::Busy("the collections would need " + std::to_string(families) +
                        " column families a shard, at most " +
                        std::to_string(options_.max_column_families) + " are allowed");
  }
  return StoreCollection(std::string(name), policy);
}

// Each shard's CollectionFamilies::unwatched_up_to_ms, as it is and as it will be.
std::vector<EngineImpl::Unwatched> EngineImpl::UnwatchedUnder(const std::string& name,
                                                              const Policy& policy) {
  const int64_t now = clock_->NowMs();
  // Plays go by this one until all shards know the other: they differ where a change failed.
  const Result<Collection> recorded = FindCollection(name);
  std::vector<Unwatched> all(shards_.size());
  for (size_t i = 0; i < shards_.size(); ++i) {
    const Gate::Scope inside(*shards_[i].use);
    const std::shared_ptr<const FamilySet> families = shards_[i].store->families();
    const CollectionFamilies* known = families->Find(name);
    if (known == nullptr) continue;
    const int64_t before = known->unwatched_up_to_ms;
    int64_t after = before == INT64_MAX ? UnwatchedUpToMs(now) : before;
    after = std::max(after, UnwatchedUpToMs(known->policy, policy, now));
    if (recorded.ok()) after = std::max(after, UnwatchedUpToMs(recorded->policy, policy, now));
    all[i] = {before, after};
  }
  return all;
}

// Where history lacks more for the change, it is not trusted at all until plays go by it.
Status EngineImpl::StoreCollection(const std::string& name, const Policy& policy) {
  const Status believed = CheckClock();
  if (!believed.ok()) return believed;
  const std::vector<Unwatched> unwatched = UnwatchedUnder(name, policy);
  for (size_t i = 0; i < shards_.size(); ++i) {
    Shard& shard = shards_[i];
    const Gate::Scope inside(*shard.use);
    const auto [before, after] = unwatched[i];
    const Status stored =
        shard.store->PutCollection(name, policy, before == after ? before : INT64_MAX);
    if (!stored.ok()) return stored;
    const Result<std::shared_ptr<Bucket>> bucket =
        shard.store->EnsureBucket(name, BucketIndexOf(policy, clock_->NowMs()));
    if (!bucket.ok()) return bucket.status();
    if (!policy.history.enabled) continue;
    const Result<std::shared_ptr<HistoryBucket>> history =
        shard.store->EnsureHistoryBucket(name, BucketIndexOf(policy, clock_->NowMs()));
    if (!history.ok()) return history.status();
  }
  {
    auto map = std::make_shared<CollectionMap>(*collections());
    (*map)[name] = {name, names_.Intern(name), policy};
    const std::unique_lock lock(collections_mutex_);
    collections_ = std::move(map);
  }
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (unwatched[i].before == unwatched[i].after) continue;
    const Gate::Scope inside(*shards_[i].use);
    const Status stored = shards_[i].store->PutCollection(name, policy, unwatched[i].after);
    if (!stored.ok()) return stored;
  }
  return {};
}

std::vector<CollectionInfo> EngineImpl::Collections() {
  std::vector<CollectionInfo> infos;
  const std::shared_ptr<const CollectionMap> all = collections();
  for (const auto& [name, collection] : *all) {
    CollectionInfo info{name, collection.policy};
    info.policy.max_filter_bytes = EffectiveMaxFilterBytes(collection.policy);
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace seendb
