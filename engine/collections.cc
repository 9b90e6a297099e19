// Collections and their policies.

#include "engine_impl.h"

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

Status EngineImpl::StoreCollection(const std::string& name, const Policy& policy) {
  const Status believed = CheckClock();
  if (!believed.ok()) return believed;
  for (Shard& shard : shards_) {
    const Gate::Scope inside(*shard.use);
    const Status stored = shard.store->PutCollection(name, policy);
    if (!stored.ok()) return stored;
    const Result<std::shared_ptr<Bucket>> bucket =
        shard.store->EnsureBucket(name, BucketIndexOf(policy, clock_->NowMs()));
    if (!bucket.ok()) return bucket.status();
    if (!policy.history.enabled) continue;
    const Result<std::shared_ptr<HistoryBucket>> history =
        shard.store->EnsureHistoryBucket(name, BucketIndexOf(policy, clock_->NowMs()));
    if (!history.ok()) return history.status();
  }
  auto map = std::make_shared<CollectionMap>(*collections());
  (*map)[name] = {name, names_.Intern(name), policy};
  const std::unique_lock lock(collections_mutex_);
  collections_ = std::move(map);
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
