#include "query/repeats.h"

#include <algorithm>
#include <string>
#include <utility>

#include "query/probe.h"

namespace seendb {
namespace {

Status OutOfRange(const char* member, const std::string& range) {
  return Status::InvalidArgument("must be " + range, std::string("/when_short/") + member);
}

bool IsList(ReasonKind kind) {
  return kind == ReasonKind::kImpression || kind == ReasonKind::kExposed;
}

bool IsOfPlays(ReasonKind kind) { return kind == ReasonKind::kRing || kind == ReasonKind::kPlay; }

int64_t LatestOf(std::span<const SourceView> sources, Fingerprint item) {
  int64_t latest_ms = kNeverMs;
  for (const SourceView& source : sources) {
    const auto at =
        std::lower_bound(source.times.begin(), source.times.end(), item,
                         [](const ItemTime& one, Fingerprint wanted) { return one.item < wanted; });
    if (at != source.times.end() && at->item == item) latest_ms = std::max(latest_ms, at->at_ms);
  }
  return latest_ms;
}

// The sources of plays, those of the newest bucket first: the first that has an item says when it
// was played last.
std::vector<SourceView> NewestFirst(std::span<const SourceView> sources) {
  std::vector<SourceView> plays;
  std::copy_if(sources.begin(), sources.end(), std::back_inserter(plays),
               [](const SourceView& source) { return IsOfPlays(source.kind); });
  std::stable_sort(plays.begin(), plays.end(), [](const SourceView& a, const SourceView& b) {
    return a.newest_bucket > b.newest_bucket;
  });
  return plays;
}

// Whether facts made it seen, by the item or by a group of its own.
bool IsByFacts(const SourceView& source) {
  return IsList(source.kind) || IsOfPlays(source.kind) ||
         (source.kind == ReasonKind::kSame && !source.on_page);
}

// The newest bucket of the plays of each of scratch->fingerprints that no override lifts.
std::vector<std::optional<int64_t>> NewestBuckets(std::span<const SourceView> plays,
                                                  const CollectionMarks* overrides,
                                                  Candidates* scratch) {
  const std::vector<Fingerprint>& asked = scratch->fingerprints;
  std::vector<std::optional<int64_t>> newest(asked.size());
  scratch->verdicts.assign(asked.size(), 0);
  ProbeRange(plays, 0, asked.size(), scratch);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (scratch->verdicts[i] == 0) continue;
    if (overrides != nullptr && overrides->FindOverride(asked[i]) != nullptr) continue;
    newest[i] = plays[scratch->verdicts[i] - 1].newest_bucket;
  }
  return newest;
}

// A sight of a group is one of the candidate.
void DateByGroups(std::span<const SourceView> sources, std::span<const SourceView> plays,
                  const Candidates& candidates, const Policy& policy,
                  const CollectionMarks* overrides, Candidates* scratch,
                  std::vector<SeenCandidate>* seen) {
  scratch->fingerprints.clear();
  std::vector<SeenCandidate*> of;
  auto one = seen->begin();
  for (const SameGroup& same : candidates.same) {  // both are ascending
    while (one != seen->end() && one->position < same.position) ++one;
    if (one == seen->end()) break;
    if (one->position != same.position) continue;
    one->listed_ms = std::max(one->listed_ms, LatestOf(sources, same.fingerprint));
    of.push_back(&*one);
    scratch->fingerprints.push_back(same.fingerprint);
  }
  const auto newest = NewestBuckets(plays, overrides, scratch);
  for (size_t i = 0; i < of.size(); ++i) {
    if (!newest[i]) continue;
    of[i]->listed_ms = std::max(of[i]->listed_ms, BucketBeginMs(policy, *newest[i] + 1));
  }
}

}  // namespace

Status CheckWhenShort(const WhenShort& asked, uint64_t max_candidates) {
  if (asked.need < 1 || asked.need > max_candidates) {
    return OutOfRange("need", "from 1 to " + std::to_string(max_candidates));
  }
  if (asked.gap_ms < 1) return OutOfRange("gap", "longer than 0");
  if (asked.max < 1 || asked.max > kMaxRepeats) {
    return OutOfRange("max", "from 1 to " + std::to_string(kMaxRepeats));
  }
  return {};
}

bool IsShort(const FilterRequest& request, const FilterResponse& response) {
  if (request.question == nullptr || !request.question->when_short || response.degraded) {
    return false;
  }
  const size_t unseen = response.unseen.size();
  const bool at_limit = request.limit != 0 && unseen >= request.limit;
  return !at_limit && unseen < request.question->when_short->need;
}

std::vector<SeenCandidate> SeenByFacts(std::span<const SourceView> sources,
                                       const Candidates& candidates, const Policy& policy,
                                       const CollectionMarks* overrides, Candidates* scratch) {
  std::vector<SeenCandidate> seen;
  scratch->fingerprints.clear();
  for (size_t i = 0; i < candidates.verdicts.size(); ++i) {
    const uint32_t verdict = candidates.verdicts[i];
    if (verdict == 0 || candidates.repeats[i] != 0) continue;
    if (!IsByFacts(sources[verdict - 1])) continue;
    const Fingerprint item = candidates.fingerprints[i];
    SeenCandidate& one = seen.emplace_back();
    one.position = static_cast<uint32_t>(i);
    one.listed_ms = LatestOf(sources, item);
    scratch->fingerprints.push_back(item);
  }
  const std::vector<SourceView> plays = NewestFirst(sources);
  const auto newest = NewestBuckets(plays, overrides, scratch);
  for (size_t i = 0; i < seen.size(); ++i) {
    if (!newest[i]) continue;
    seen[i].played_bucket = newest[i];
    seen[i].played_ms = BucketBeginMs(policy, *newest[i] + 1);
  }
  if (!candidates.same.empty()) {
    DateByGroups(sources, plays, candidates, policy, overrides, scratch, &seen);
  }
  return seen;
}

void TakeRepeats(std::vector<SeenCandidate> seen, const WhenShort& asked, int64_t now_ms,
                 const AdmitRepeat& admit, std::vector<uint32_t>* repeats) {
  const auto last_ms = [](const SeenCandidate& one) {
    return std::max(one.listed_ms, one.played_ms);
  };
  const int64_t latest_ms = now_ms - std::min(asked.gap_ms, now_ms - kFirstTimeMs);
  std::erase_if(seen, [&](const SeenCandidate& one) {
    return last_ms(one) == kNeverMs || last_ms(one) > latest_ms;
  });
  std::sort(seen.begin(), seen.end(), [&](const SeenCandidate& a, const SeenCandidate& b) {
    return std::pair(last_ms(a), a.position) < std::pair(last_ms(b), b.position);
  });
  repeats->clear();
  for (const SeenCandidate& one : seen) {
    if (repeats->size() == asked.max) break;
    if (admit(one.position)) repeats->push_back(one.position);
  }
}

}  // namespace seendb
