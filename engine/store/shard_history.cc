// The families of history: two a bucket, made and dropped together, apart from the seen filters'.

#include <utility>

#include "base/return_if_failed.h"
#include "store/shard_opening.h"
#include "store/status.h"

namespace seendb {
namespace {

std::shared_ptr<HistoryBucket> NewHistoryBucket(const Policy& policy, int64_t index) {
  auto bucket = std::make_shared<HistoryBucket>();
  bucket->index = index;
  bucket->label = BucketLabel(policy, index);
  bucket->begin_ms = BucketBeginMs(policy, index);
  bucket->end_ms = BucketBeginMs(policy, index + 1);
  return bucket;
}

}  // namespace

// Whichever of the two a crash kept from being made, or dropped first, the other is empty or no
// longer needed.
Status ShardFamilies::AddHistoryFamilies(std::string_view collection, HistoryBucket* bucket) {
  const auto make = [&](const std::string& name, std::shared_ptr<Family>* family) -> Status {
    if (*family) return {};
    auto made = database_.CreateFamily(name, database_.NewRules());
    if (made.ok()) *family = *made;
    return made.status();
  };
  RETURN_IF_FAILED(make(HistoryFamilyName(collection, bucket->label), &bucket->states));
  return make(TimelineFamilyName(collection, bucket->label), &bucket->timeline);
}

Status ShardOpening::AdoptHistory(const Opened& opened, CollectionFamilies* families) {
  const Result<int64_t> index = BucketIndexOfLabel(families->policy, opened.name.bucket);
  if (!index.ok()) {
    SetAside(opened);
    return {};
  }
  std::shared_ptr<HistoryBucket>& bucket = families->history[*index];
  if (!bucket) bucket = NewHistoryBucket(families->policy, *index);
  (opened.name.Is(kHistoryTables) ? bucket->states : bucket->timeline) = opened.family;
  return {};
}

// Once all families are known.
Status ShardOpening::CompleteHistory(CollectionFamilies* families) {
  for (auto at = families->history.begin(); at != families->history.end();) {
    HistoryBucket& bucket = *at->second;
    const bool whole = bucket.states != nullptr && bucket.timeline != nullptr;
    if (!whole && options_.read_only) {
      at = families->history.erase(at);
      continue;
    }
    RETURN_IF_FAILED(whole ? Status() : tables_.AddHistoryFamilies(families->name, &bucket));
    ++at;
  }
  return {};
}

Result<std::shared_ptr<HistoryBucket>> ShardFamilies::EnsureHistoryBucket(
    std::string_view collection, int64_t index) {
  const auto make = [&](const CollectionFamilies& known) -> Result<std::shared_ptr<HistoryBucket>> {
    change_mutex_.AssertHeld();
    auto bucket = NewHistoryBucket(known.policy, index);
    const std::string name = HistoryFamilyName(collection, bucket->label);
    RETURN_IF_FAILED(ForgetMarkers(MarkersOf(ParseFamilyName(name))));
    RETURN_IF_FAILED(AddHistoryFamilies(collection, bucket.get()));
    return bucket;
  };
  return EnsureIn(&CollectionFamilies::history, collection, index, make);
}

Status ShardFamilies::Drop(std::string_view collection,
                           const std::vector<std::shared_ptr<HistoryBucket>>& buckets) {
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  std::vector<std::string> names;
  for (const auto& bucket : buckets) {
    names.push_back(HistoryFamilyName(collection, bucket->label));
    families.push_back(bucket->states->get());
    families.push_back(bucket->timeline->get());
  }
  return DropBuckets(names, families);
}

}  // namespace seendb
