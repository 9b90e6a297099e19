// Collections and their policies.

#include <algorithm>
#include <utility>

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

CollectionPtr EngineImpl::NewCollection(const std::string& name, uint64_t making,
                                        const Policy& policy) {
  return std::make_shared<const Collection>(
      Collection{name, names_.Intern(name, making), making, policy});
}

EngineImpl::StoredMakings EngineImpl::ReadMakings() {
  StoredMakings stored;
  for (const std::shared_ptr<Shard>& shard : Attached()) {
    for (const auto& [name, making] : shard->Makings()) {
      uint64_t& number = stored.numbers[name];
      number = std::max(number, making.number);
      if (making.deleting) stored.deleting.insert(name);
    }
  }
  return stored;
}

// The first shard is written first when a policy changes, so what it says holds; a crash may have
// kept the others from hearing of it.
Status EngineImpl::ReconcileCollections(bool fresh) {
  const auto stored = Attached().front()->Policies();
  if (!stored) return {};  // what is known of the policies stays
  const StoredMakings makings = ReadMakings();
  auto map = std::make_shared<CollectionMap>();
  for (const auto& [name, policy] : *stored) {
    if (makings.deleting.contains(name)) continue;
    (*map)[name] = NewCollection(name, makings.NumberOf(name), policy);
  }
  for (const std::shared_ptr<Shard>& shard : Attached()) {
    for (const auto& [name, collection] : *map) {
      const Status adopted = options_.read_only ? Status() : shard->AdoptPolicy(*collection);
      if (!adopted.ok()) return adopted;
    }
  }
  Publish(std::move(map));
  if (!fresh || stored->contains("default")) return {};
  const Policy policy = ApplyPatch({}, options_.default_policy);
  const Status fits = CheckFamilies("default", policy);
  return fits.ok() ? StoreCollection(NewCollection("default", 0, policy)) : fits;
}

Status EngineImpl::CheckFamilies(std::string_view name, const Policy& policy) const {
  const Status valid = ValidatePolicy(policy);
  if (!valid.ok()) return valid;
  uint64_t families = options_.ring_slots + 2 + FamiliesOf(policy);
  const std::shared_ptr<const CollectionMap> current = collections();
  if (!current->contains(name) && current->size() >= options_.max_collections) {
    return Status::Incompatible("there are " + std::to_string(current->size()) +
                                    " collections; the setting engine.max_collections allows " +
                                    std::to_string(options_.max_collections),
                                "/engine/max_collections");
  }
  for (const auto& [other, collection] : *current) {
    if (other != name) families += FamiliesOf(collection->policy);
  }
  if (families <= options_.max_column_families) return {};
  return Status::Incompatible("the collections would need " + std::to_string(families) +
                                  " column families a shard; the setting "
                                  "engine.max_column_families allows " +
                                  std::to_string(options_.max_column_families),
                              "/engine/max_column_families");
}

Status EngineImpl::CheckAllWritable() {
  for (const std::shared_ptr<Shard>& shard : Attached()) {
    const Status takes = shard->CheckWritable();
    if (!takes.ok()) return takes;
  }
  return {};
}

Status EngineImpl::PutCollection(std::string_view name, const PolicyPatch& patch) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status named = ValidateCollectionName(name);
  if (!named.ok()) return named;
  const MutexLock change(admin_mutex_);
  // An absent shard would not hear of it.
  const Status whole = CheckNoneAbsent(*shards());
  if (!whole.ok()) return whole;
  // The first shard's word holds also where the others did not hear of it: a creation that failed
  // half way may have made families already.
  const Status takes = Attached().front()->CheckWritable();
  if (!takes.ok()) return takes;
  const StoredMakings makings = ReadMakings();
  if (makings.deleting.contains(name)) {
    const Status finished = FinishDeletion(std::string(name), makings.NumberOf(name));
    if (!finished.ok()) return finished;
  }
  if (names_.full()) return Status::Unavailable("too many collections were made; restart");
  Policy policy;
  Status fixed;
  if (const auto stored = Attached().front()->Policies()) {
    if (const auto known = stored->find(std::string(name)); known != stored->end()) {
      policy = known->second;
      fixed = CheckFixedFields(policy, patch);
    }
  }
  policy = ApplyPatch(policy, patch);
  const Status fits = CheckFamilies(name, policy);
  if (!fits.ok()) return fits;
  const CollectionPtr wanted =
      NewCollection(std::string(name), makings.NumberOf(name) + (fixed.ok() ? 0 : 1), policy);
  return fixed.ok() ? StoreCollection(wanted) : BeginAnew(wanted, fixed);
}

// A shard whose history lacks more for the change does not trust it until plays go by the policy.
Status EngineImpl::StoreCollection(const CollectionPtr& wanted) {
  const Status believed = CheckCalendar(clock_->NowMs());
  if (!believed.ok()) return believed;
  const std::shared_ptr<const CollectionMap> current = collections();
  const auto recorded = current->find(wanted->name);
  const Policy* const recorded_by =
      recorded == current->end() ? nullptr : &recorded->second->policy;
  const int64_t now_ms = clock_->NowMs();
  std::vector<HistoryIncomplete> incomplete;
  for (const std::shared_ptr<Shard>& shard : Attached()) {
    incomplete.push_back(shard->HistoryIncompleteUnder(*wanted, recorded_by, now_ms));
  }
  for (size_t i = 0; i < Attached().size(); ++i) {
    const Status announced = Attached()[i]->AnnouncePolicy(*wanted, incomplete[i]);
    if (!announced.ok()) return announced;
  }
  PublishWith(wanted);
  for (size_t i = 0; i < Attached().size(); ++i) {
    const Status confirmed = Attached()[i]->ConfirmPolicy(*wanted, incomplete[i]);
    if (!confirmed.ok()) return confirmed;
  }
  return {};
}

void EngineImpl::PublishWith(const CollectionPtr& collection) {
  auto map = std::make_shared<CollectionMap>(*collections());
  (*map)[collection->name] = collection;
  Publish(std::move(map));
}

// ---- Collections that go, or begin anew ----

// Writes to a collection are refused in every shard as long as it lives.
class EngineImpl::StoppedWrites {
 public:
  StoppedWrites(EngineImpl* engine, std::string name)
      : shards_(engine->Attached()), name_(std::move(name)) {
    for (const std::shared_ptr<Shard>& shard : shards_) shard->StopWrites(name_);
  }
  ~StoppedWrites() {
    for (const std::shared_ptr<Shard>& shard : shards_) shard->ResumeWrites(name_);
  }
  StoppedWrites(const StoppedWrites&) = delete;
  StoppedWrites& operator=(const StoppedWrites&) = delete;
  bool HoldsAny(const Collection& collection) const {
    return std::any_of(shards_.begin(), shards_.end(), [&](const std::shared_ptr<Shard>& shard) {
      return shard->HoldsAny(collection);
    });
  }

 private:
  const std::vector<std::shared_ptr<Shard>> shards_;
  const std::string name_;
};

Status EngineImpl::BeginAnew(const CollectionPtr& wanted, const Status& fixed) {
  const Result<CollectionPtr> known = FindCollection(wanted->name);
  Status status = known.ok() ? CheckAllWritable() : fixed;
  if (status.ok()) status = CheckCalendar(clock_->NowMs());
  if (!status.ok()) return status;
  const StoppedWrites stopped(this, wanted->name);
  if (stopped.HoldsAny(**known)) return fixed;
  for (const std::shared_ptr<Shard>& shard : Attached()) {
    status = shard->BeginAnew(*wanted);
    if (!status.ok()) return status;  // the others follow once it is healed
    if (shard == Attached().front()) PublishWith(wanted);
  }
  return StoreCollection(wanted);
}

// The first shard is told first, and is the last to forget it: an opening finishes the others.
Status EngineImpl::FinishDeletion(const std::string& name, uint64_t making) {
  const Status begun = Attached().front()->BeginDeletion(name, making);
  if (!begun.ok()) return begun;
  for (size_t i = 1; i < Attached().size(); ++i) {
    Status deleted = Attached()[i]->BeginDeletion(name, making);
    if (deleted.ok()) deleted = Attached()[i]->FinishDeletion(name);
    if (!deleted.ok()) return deleted;
  }
  return Attached().front()->FinishDeletion(name);
}

Status EngineImpl::FinishDeletions() {
  const StoredMakings makings = ReadMakings();
  for (const std::string& name : makings.deleting) {
    const StoppedWrites stopped(this, name);
    const Status finished = FinishDeletion(name, makings.NumberOf(name));
    if (!finished.ok()) return finished;
  }
  return {};
}

Status EngineImpl::DeleteCollection(std::string_view name) {
  Status status = CheckWritable();
  if (!status.ok()) return status;
  const MutexLock change(admin_mutex_);
  const Result<CollectionPtr> known = FindCollection(name);
  if (!known.ok()) return known.status();
  status = CheckNoneAbsent(*shards());
  if (status.ok()) status = CheckAllWritable();
  if (!status.ok()) return status;
  const StoppedWrites stopped(this, (*known)->name);
  if (name == "default" && stopped.HoldsAny(**known)) {
    return Status::Incompatible("the collection default is deleted only while it holds nothing",
                                "/collection");
  }
  auto map = std::make_shared<CollectionMap>(*collections());
  map->erase((*known)->name);
  Publish(std::move(map));
  const uint64_t making = (*known)->making + 1;
  status = FinishDeletion((*known)->name, making);
  // It is there as before, as far as anybody knows.
  if (!status.ok() && ReadMakings().NumberOf(name) < making) PublishWith(*known);
  return status;
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
