#include "shard/repeats.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/pause_point.h"
#include "query/repeats.h"
#include "shard/history_reader.h"
#include "shard/history_whole.h"

namespace seendb {
namespace {

// Whether history is whole by what is known now, in each of the buckets.
std::vector<bool> WholeBuckets(const ShardParts& shard, const FilterRead& read,
                               std::span<const int64_t> buckets) {
  std::vector<bool> whole(buckets.size(), false);
  const std::shared_ptr<const UserRecord> settings = shard.users.Find(read.user);
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const family = families->Find(read.collection.name);
  if (family == nullptr) return whole;
  const int64_t now_ms = shard.clock->NowMs();
  std::transform(buckets.begin(), buckets.end(), whole.begin(), [&](int64_t bucket) {
    return HistoryIsWhole(*family, settings.get(), bucket, now_ms);
  });
  return whole;
}

// The latest of an item's times that lies in the bucket; `end_ms`, that of the bucket, where none
// does: the filter is wrong, or the item was deleted later.
int64_t TimeWithin(const FoundState& found, const Policy& policy, int64_t bucket, int64_t end_ms) {
  int64_t latest_ms = kNoTimeMs;
  for (const int64_t at_ms : {found.at_ms, found.deleted_ms}) {
    if (at_ms != kNoTimeMs && BucketIndexOf(policy, at_ms) == bucket) {
      latest_ms = std::max(latest_ms, at_ms);
    }
  }
  return latest_ms == kNoTimeMs ? end_ms : latest_ms;
}

// Replaces the end of a bucket by the time that history has, where history has all plays of the
// bucket.
void DateByHistory(const ShardParts& shard, const FilterRead& read, int64_t now_ms,
                   std::vector<SeenCandidate>* seen) {
  std::vector<int64_t> buckets;
  for (const SeenCandidate& one : *seen) {
    if (one.played_bucket) buckets.push_back(*one.played_bucket);
  }
  std::sort(buckets.begin(), buckets.end());
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  const std::vector<bool> whole = WholeBuckets(shard, read, buckets);
  std::vector<SeenCandidate*> asked;
  std::vector<std::string> texts;
  for (SeenCandidate& one : *seen) {
    if (!one.played_bucket) continue;
    const auto at = std::lower_bound(buckets.begin(), buckets.end(), *one.played_bucket);
    if (!whole[static_cast<size_t>(at - buckets.begin())]) continue;
    asked.push_back(&one);
    texts.push_back(read.request.items[one.position].ToString());
  }
  if (asked.empty()) return;
  ReadGaps gaps;
  HistoryReader reader(shard, read.collection, read.user, now_ms, &gaps);
  const std::vector<FoundState> found =
      reader.Find(std::vector<std::string_view>(texts.begin(), texts.end()), Sought::kNewest);
  SEENDB_PAUSE_POINT("repeats: history read");
  // Like `verify`: what was cleared, dropped or changed meanwhile may be what was not found.
  if (gaps.degraded || WholeBuckets(shard, read, buckets) != whole) return;
  for (size_t i = 0; i < asked.size(); ++i) {
    SeenCandidate& one = *asked[i];
    one.played_ms = TimeWithin(found[i], read.collection.policy, *one.played_bucket, one.played_ms);
  }
}

}  // namespace

void FindRepeats(const ShardParts& shard, const FilterRead& read, const CollectionMarks* overrides,
                 int64_t now_ms, const FilterScratch& scratch, const AdmitRepeat& admit,
                 FilterResponse* response) {
  thread_local Candidates probed;
  const Policy& policy = read.collection.policy;
  std::vector<SeenCandidate> seen =
      SeenByFacts(scratch.sources, scratch.candidates, policy, overrides, &probed);
  if (policy.history.enabled && !read.request.memory_only) {
    DateByHistory(shard, read, now_ms, &seen);
  }
  TakeRepeats(std::move(seen), *read.request.question->when_short, now_ms, admit,
              &response->repeats);
}

}  // namespace seendb
