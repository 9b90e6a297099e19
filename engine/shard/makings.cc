#include "shard/makings.h"

#include <memory>
#include <optional>

#include "base/return_if_failed.h"
#include "shard/forget_collection.h"

namespace seendb {

void StopWrites(ShardParts& shard, const std::string& name) {
  const SharedLock::Exclusive alone(shard.apply_lock);
  shard.apply_lock.AssertHeld();
  shard.stopped.insert(name);
}

void ResumeWrites(ShardParts& shard, const std::string& name) {
  const SharedLock::Exclusive alone(shard.apply_lock);
  shard.apply_lock.AssertHeld();
  shard.stopped.erase(name);
}

// The ring first: what a drain moves meanwhile is found in its family.
bool HoldsAny(const ShardParts& shard, const Collection& collection) {
  shard.use.AssertHeldShared();
  if (!shard.store->readable() || shard.ring.Holds(collection.id)) return true;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const family = families->Find(collection.name);
  if (family == nullptr) return false;
  bool holds = !family->losses.empty();
  family->ForEachFamily([&](const std::shared_ptr<Family>& one) {
    if (holds) return;
    const std::unique_ptr<rocksdb::Iterator> it(shard.store->db()->NewIterator({}, one->get()));
    it->SeekToFirst();
    holds = it->Valid() || !it->status().ok();
  });
  return holds;
}

Status BeginDeletion(ShardParts& shard, const std::string& name, uint64_t making) {
  const Making known = shard.store->families()->MakingOf(name);
  if (known.number >= making) return {};
  // No write of the collection that goes comes after this sequence.
  return shard.store->NoteDeletion(name, {making, shard.NextSequence(), true});
}

Status FinishDeletion(ShardParts& shard, const std::string& name) {
  if (!shard.store->families()->MakingOf(name).deleting) return {};
  RETURN_IF_FAILED(shard.store->CheckWritable());
  std::optional<CollectionFamilies> families;
  {
    const SharedLock::Exclusive alone(shard.apply_lock);
    families = shard.store->UnpublishCollection(name);
  }
  RETURN_IF_FAILED(ForgetCollection(shard, name));
  return shard.store->DeleteCollection(name, families ? &*families : nullptr);
}

Status BeginAnew(ShardParts& shard, const Collection& wanted) {
  if (shard.store->families()->Find(wanted.name) == nullptr) {
    return Status::NotFound("no collection " + wanted.name);
  }
  return shard.store->BeginAnew(StoredPolicyOf(wanted), shard.NextSequence());
}

}  // namespace seendb
