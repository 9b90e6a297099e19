// Collections and their policies.

#include <algorithm>

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

std::shared_ptr<const CollectionMap> EngineImpl::collections() const {
  const ReaderLock lock(collections_mutex_);
  return collections_;
}

Result<CollectionPtr> EngineImpl::FindCollection(std::string_view name) const {
  const ReaderLock lock(collections_mutex_);
  const auto at = collections_->find(name);
  if (at != collections_->end()) return at->second;
  return Status::NotFound("no collection \"" + std::string(name) + "\"", "/collection");
}

void EngineImpl::Publish(std::shared_ptr<const CollectionMap> collections) {
  const WriterLock lock(collections_mutex_);
  collections_ = std::move(collections);
}

// The first shard is written first when a policy changes, so what it says holds; a crash may have
// kept the others from hearing of it.
Status EngineImpl::ReconcileCollections(bool fresh) {
  const auto stored = shards_.front()->Policies();
  if (!stored) return {};  // what is known of the policies stays
  auto map = std::make_shared<CollectionMap>();
  for (const auto& [name, policy] : *stored) {
    (*map)[name] = std::make_shared<Collection>(Collection{name, names_.Intern(name), policy});
  }
  for (size_t i = 1; i < shards_.size() && !options_.read_only; ++i) {
    for (const auto& [name, collection] : *map) {
      const Status adopted = shards_[i]->AdoptPolicy(*collection);
      if (!adopted.ok()) return adopted;
    }
  }
  Publish(std::move(map));
  const bool has_default = stored->contains("default");
  return fresh && !has_default ? StoreCollection("default", Policy{}) : Status();
}

Status EngineImpl::PutCollection(std::string_view name, const PolicyPatch& patch) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status named = ValidateCollectionName(name);
  if (!named.ok()) return named;
  const MutexLock change(admin_mutex_);
  const std::shared_ptr<const CollectionMap> current = collections();
  // The first shard's word holds also where the others did not hear of it: a creation that failed
  // half way may have made families already.
  const Status takes = shards_.front()->CheckWritable();
  if (!takes.ok()) return takes;
  Policy policy;
  if (const auto stored = shards_.front()->Policies()) {
    if (const auto known = stored->find(std::string(name)); known != stored->end()) {
      const Status fixed = CheckFixedFields(known->second, patch);
      if (!fixed.ok()) return fixed;
      policy = known->second;
    }
  }
  policy = ApplyPatch(policy, patch);
  const Status valid = ValidatePolicy(policy);
  if (!valid.ok()) return valid;

  uint64_t families = options_.ring_slots + 2 + FamiliesOf(policy);
  for (const auto& [other, collection] : *current) {
    if (other != name) families += FamiliesOf(collection->policy);
  }
  if (families > options_.max_column_families) {
    return Status::Incompatible("the collections would need " + std::to_string(families) +
                                    " column families a shard; the setting "
                                    "engine.max_column_families allows " +
                                    std::to_string(options_.max_column_families),
                                "/engine/max_column_families");
  }
  return StoreCollection(std::string(name), policy);
}

// A shard whose history lacks more for the change does not trust it until plays go by the policy.
Status EngineImpl::StoreCollection(const std::string& name, const Policy& policy) {
  const Status believed = CheckClock();
  if (!believed.ok()) return believed;
  const auto wanted =
      std::make_shared<const Collection>(Collection{name, names_.Intern(name), policy});
  const std::shared_ptr<const CollectionMap> current = collections();
  const auto recorded = current->find(name);
  const Policy* const recorded_by =
      recorded == current->end() ? nullptr : &recorded->second->policy;
  const int64_t now_ms = clock_->NowMs();
  std::vector<HistoryIncomplete> incomplete;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    incomplete.push_back(shard->HistoryIncompleteUnder(*wanted, recorded_by, now_ms));
  }
  for (size_t i = 0; i < shards_.size(); ++i) {
    const Status announced = shards_[i]->AnnouncePolicy(*wanted, incomplete[i]);
    if (!announced.ok()) return announced;
  }
  auto map = std::make_shared<CollectionMap>(*current);
  (*map)[name] = wanted;
  Publish(std::move(map));
  for (size_t i = 0; i < shards_.size(); ++i) {
    const Status confirmed = shards_[i]->ConfirmPolicy(*wanted, incomplete[i]);
    if (!confirmed.ok()) return confirmed;
  }
  return {};
}

std::vector<CollectionInfo> EngineImpl::Collections() {
  std::vector<CollectionInfo> infos;
  const std::shared_ptr<const CollectionMap> all = collections();
  for (const auto& [name, collection] : *all) {
    CollectionInfo info{name, collection->policy};
    info.policy.max_filter_bytes = EffectiveMaxFilterBytes(collection->policy);
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace seendb
