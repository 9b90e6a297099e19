#include "shard/span_check.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/pause_point.h"
#include "shard/history_reader.h"
#include "shard/history_whole.h"

namespace seendb {
namespace {

// By what is known now.
bool IsWholeIn(const ShardParts& shard, const FilterRead& read, int64_t bucket) {
  const std::shared_ptr<const UserRecord> settings = shard.users.Find(read.user);
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const family = families->Find(read.collection.name);
  return family != nullptr && HistoryIsWhole(*family, settings.get(), bucket, shard.clock->NowMs());
}

}  // namespace

void CheckSpan(const ShardParts& shard, const FilterRead& read, int64_t touched_bucket,
               int64_t from_ms, size_t begin, size_t end, FilterScratch& scratch) {
  Candidates& candidates = scratch.candidates;
  candidates.in_span.resize(candidates.verdicts.size());
  std::vector<size_t> asked;
  std::vector<std::string> texts;
  for (size_t i = begin; i < end; ++i) {
    candidates.in_span[i] = 0;
    const uint32_t verdict = candidates.verdicts[i];
    if (verdict == 0 || !scratch.sources[verdict - 1].touched) continue;
    asked.push_back(i);
    texts.push_back(read.request.items[i].ToString());
  }
  if (asked.empty() || !IsWholeIn(shard, read, touched_bucket)) return;
  ReadGaps gaps;
  HistoryReader reader(shard, read.collection, read.user, shard.clock->NowMs(), &gaps);
  const std::vector<FoundState> found =
      reader.Find(std::vector<std::string_view>(texts.begin(), texts.end()), Sought::kNewest);
  SEENDB_PAUSE_POINT("span: history read");
  // Missing plays may be those that were cleared, dropped or changed meanwhile.
  if (gaps.degraded || !IsWholeIn(shard, read, touched_bucket)) return;
  for (size_t k = 0; k < asked.size(); ++k) {
    const int64_t newest_ms = found[k].time_ms();
    if (newest_ms == kNoTimeMs) continue;
    if (newest_ms >= from_ms) {
      candidates.in_span[asked[k]] = 1;
    } else if (BucketIndexOf(read.collection.policy, newest_ms) == touched_bucket) {
      candidates.verdicts[asked[k]] = 0;
    }
  }
}

}  // namespace seendb
