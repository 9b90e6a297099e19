#include "query/probe.h"

#include <algorithm>
#include <array>
#include <bit>

#include "filter/block_bloom.h"
#include "query/excluded.h"
#include "query/question.h"

namespace seendb {
namespace {

// Removes from pending what the last probe hit, noting what `verdict_of` makes of the hit: 0, for
// pending as before, or a verdict. Hits come at random, so nothing branches on them.
template <typename VerdictOf>
void TakeHits(Candidates& candidates, VerdictOf verdict_of) {
  Fingerprint* const pending = candidates.pending.data();
  uint32_t* const positions = candidates.positions.data();
  uint32_t* const verdicts = candidates.verdicts.data();
  const uint8_t* const hits = candidates.hits.data();
  const size_t count = candidates.pending.size();
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t position = positions[i];
    verdicts[position] = verdict_of(hits[i]);
    pending[kept] = pending[i];
    positions[kept] = position;
    kept += static_cast<size_t>(hits[i] == 0);
  }
  candidates.pending.resize(kept);
  candidates.positions.resize(kept);
}

// Probes what is pending against one part of the sources after the other, in their order; block
// filters that follow each other together.
class Prober {
 public:
  explicit Prober(Candidates& candidates) : candidates_(candidates) {}

  void ProbeAll(std::span<const SourceView> sources) {
    for (size_t s = 0; s < sources.size(); ++s) {
      Add(sources[s].view, static_cast<uint32_t>(s + 1));
    }
    ProbeFilters();
  }

 private:
  void Add(const FilterView& view, uint32_t verdict) {
    ProbeList(view.list, view.list_count, verdict);
    for (uint32_t i = view.layer_count; i-- > 0;) {
      const LayerView& layer = view.layers[i];
      if (layer.blocks == 0) {
        ProbeList(layer.bits, layer.items, verdict);
        continue;
      }
      if (count_ == kProbedAtOnce) ProbeFilters();
      filters_[count_] = {layer.bits, layer.blocks};
      verdicts_[count_++] = verdict;
    }
  }

  void ProbeList(const uint8_t* packed, size_t count, uint32_t verdict) {
    if (count == 0) return;
    ProbeFilters();
    if (candidates_.pending.empty()) return;
    ProbeSortedList(packed, count, candidates_.pending.data(), candidates_.pending.size(),
                    candidates_.hits.data(), &candidates_.probe);
    TakeHits(candidates_, [verdict](uint32_t hit) { return hit * verdict; });
  }

  void ProbeFilters() {
    if (count_ > 0 && !candidates_.pending.empty()) {
      ProbeMany(filters_.data(), count_, candidates_.pending.data(), candidates_.pending.size(),
                candidates_.hits.data());
      // Of several filters the first in order counts.
      std::array<uint32_t, size_t{1} << kProbedAtOnce> verdict_of{};
      for (size_t hit = 1; hit < verdict_of.size(); ++hit) {
        verdict_of[hit] = verdicts_[static_cast<size_t>(std::countr_zero(hit))];
      }
      TakeHits(candidates_, [&](uint32_t hit) { return verdict_of[hit]; });
    }
    count_ = 0;
  }

  Candidates& candidates_;
  std::array<BlockFilter, kProbedAtOnce> filters_;
  std::array<uint32_t, kProbedAtOnce> verdicts_{};
  size_t count_ = 0;
};

// Turns the verdicts of a range into the answer, all of it: no limit, no reasons, nothing excluded.
void CollectAll(const Candidates& candidates, size_t begin, size_t end, FilterResponse* response) {
  const size_t before = response->unseen.size();
  response->unseen.resize(before + (end - begin));
  uint32_t* const unseen = response->unseen.data();
  size_t kept = before, repeats = 0;
  for (size_t i = begin; i < end; ++i) {
    unseen[kept] = static_cast<uint32_t>(i);
    repeats += candidates.repeats[i];
    kept += candidates.verdicts[i] == 0 ? 1 - candidates.repeats[i] : 0;
  }
  response->unseen.resize(kept);
  response->examined += static_cast<uint32_t>(end - begin);
  response->duplicates += static_cast<uint32_t>(repeats);
  response->seen += static_cast<uint32_t>((end - begin) - (kept - before) - repeats);
}

}  // namespace

void ProbeRange(std::span<const SourceView> sources, size_t begin, size_t end,
                Candidates* candidates) {
  const size_t count = end - begin;
  candidates->pending.assign(candidates->fingerprints.begin() + static_cast<int64_t>(begin),
                             candidates->fingerprints.begin() + static_cast<int64_t>(end));
  candidates->positions.resize(count);
  candidates->hits.resize(count);
  for (size_t i = 0; i < count; ++i) candidates->positions[i] = static_cast<uint32_t>(begin + i);
  Prober(*candidates).ProbeAll(sources);
}

void LiftOverrides(std::span<const SourceView> sources, const CollectionMarks& marks, size_t begin,
                   size_t end, Candidates* candidates) {
  for (size_t i = begin; i < end; ++i) {
    const uint32_t verdict = candidates->verdicts[i];
    if (verdict == 0) continue;
    const ReasonKind kind = sources[verdict - 1].kind;
    if (kind != ReasonKind::kRing && kind != ReasonKind::kPlay) continue;
    if (marks.FindOverride(candidates->fingerprints[i]) != nullptr) candidates->verdicts[i] = 0;
  }
}

void MarkRepeats(std::span<const IdRef> items, size_t begin, size_t end, Candidates* candidates) {
  for (size_t i = begin; i < end; ++i) {
    candidates->repeats[i] = candidates->distinct.IsRepeat(items, candidates->fingerprints, i);
  }
}

bool Collect(std::span<const SourceView> sources, const Candidates& candidates,
             const FilterRequest& request, size_t begin, size_t end, FilterResponse* response) {
  const bool may_be_coarse = std::any_of(sources.begin(), sources.end(),
                                         [](const SourceView& one) { return one.touched; });
  if (request.limit == 0 && !request.explain && !request.verify && request.exclude.empty() &&
      request.judge == nullptr && ExcludedSetsOf(request).empty() && !may_be_coarse &&
      candidates.undated.empty() && !AsksForCaps(request)) {
    CollectAll(candidates, begin, end, response);
    return false;
  }
  for (size_t i = begin; i < end; ++i) {
    const uint32_t verdict = candidates.verdicts[i];
    const bool repeated = candidates.repeats[i] != 0;
    ++response->examined;
    if (repeated) ++response->duplicates;
    if (!candidates.undated.empty()) response->undated += candidates.undated[i];
    Reason reason;
    if (verdict == 0) {
      if (!repeated) response->unseen.push_back(static_cast<uint32_t>(i));
      if (const uint32_t refuted = request.verify ? candidates.refuted[i] : 0; refuted != 0) {
        if (!repeated) ++response->refuted;
        const SourceView& source = sources[refuted - 1];
        reason.kind = source.kind == ReasonKind::kImpression ? ReasonKind::kRefutedImpression
                                                             : ReasonKind::kRefuted;
        reason.bucket_index = source.bucket;
      }
    } else {
      const SourceView& source = sources[verdict - 1];
      reason.kind = source.kind;
      reason.bucket_index = source.bucket;
      reason.collection = source.collection;
      if (!candidates.groups.empty()) reason.group = candidates.groups[i];
      if (source.kind == ReasonKind::kInSet || source.collection != 0) reason.group = source.name;
      if (source.kind == ReasonKind::kJudged) reason.rule = candidates.judgements[i].dropped_by;
      if (!repeated) source.excludes() ? ++response->excluded : ++response->seen;
      const bool exact = !candidates.in_span.empty() && candidates.in_span[i] != 0;
      if (source.touched && !exact) response->coarse |= FactBit(Fact::kPlayed);
    }
    if (request.explain) response->reasons.push_back(reason);
    if (request.limit != 0 && response->unseen.size() >= request.limit) return true;
  }
  return false;
}

}  // namespace seendb
