#include "shard/policies.h"

#include <algorithm>
#include <memory>

#include "base/return_if_failed.h"
#include "shard/history_edit.h"
#include "shard/makings.h"

namespace seendb {

CollectionClaims ClaimsOf(const FamilySet& families) {
  CollectionClaims claims;
  for (const auto& [name, making] : families.makings) {
    claims[name].making = making.number;
    claims[name].deleting = making.deleting;
  }
  for (const auto& [name, of] : families.collections) {
    CollectionClaim& claim = claims[name];
    claim.policy = of.policy;
    claim.revision = of.revision;
    claim.changed = of.changed;
  }
  return claims;
}

HistoryIncomplete HistoryIncompleteUnder(const ShardParts& shard, const Collection& wanted,
                                         const Policy* recorded_by, int64_t now_ms) {
  shard.use.AssertHeldShared();
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const known = families->Find(wanted.name);
  if (known == nullptr) return {};
  const int64_t before = known->history_incomplete_up_to_ms;
  int64_t after = before == INT64_MAX ? HistoryIncompleteUpToMs(now_ms) : before;
  const int64_t newest = NewestAheadMs(shard, wanted, {}, now_ms);
  after = std::max(after, HistoryIncompleteUpToMs(known->policy, wanted.policy, now_ms, newest));
  if (recorded_by != nullptr) {
    after = std::max(after, HistoryIncompleteUpToMs(*recorded_by, wanted.policy, now_ms, newest));
  }
  return {before, after};
}

Status AnnouncePolicy(const ShardParts& shard, const Collection& wanted,
                      const HistoryIncomplete& incomplete) {
  RETURN_IF_FAILED(shard.store->PutCollection(
      StoredPolicyOf(wanted), incomplete.changes() ? INT64_MAX : incomplete.before));
  const int64_t current = BucketIndexOf(wanted.policy, shard.clock->NowMs());
  const Status bucket = shard.store->tables().EnsureBucket(wanted.name, current).status();
  if (!bucket.ok() || !wanted.policy.history.enabled) return bucket;
  return shard.store->tables().EnsureHistoryBucket(wanted.name, current).status();
}

Status ConfirmPolicy(const ShardParts& shard, const Collection& wanted,
                     const HistoryIncomplete& incomplete) {
  if (!incomplete.changes()) return {};
  return shard.store->PutCollection(StoredPolicyOf(wanted), incomplete.after);
}

Status AdoptPolicy(ShardParts& shard, const Collection& known) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const own = families->Find(known.name);
  const bool same = own != nullptr && own->policy == known.policy && own->making == known.making;
  if (same && own->revision == known.revision && !own->changed) return {};
  if (own != nullptr && !SameFixedFields(own->policy, known.policy)) {
    const Collection before{known.name, shard.names->Intern(known.name, own->making), own->making,
                            own->revision, own->policy};
    if (!HoldsAny(shard, before)) return BeginAnew(shard, known);
    return Status::Corruption("shard " + std::to_string(shard.store->shard()) +
                              " holds plays of the collection " + known.name +
                              " under other fixed fields than the database's");
  }
  int64_t incomplete = own == nullptr ? kNeverMs : INT64_MAX;
  if (own != nullptr && own->policy == known.policy) incomplete = own->history_incomplete_up_to_ms;
  return shard.store->PutCollection(StoredPolicyOf(known), incomplete);
}

}  // namespace seendb
