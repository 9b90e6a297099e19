#include "shard/hit_check.h"

#include <algorithm>

#include "base/pause_point.h"
#include "filter/block_bloom.h"
#include "shard/history_whole.h"

namespace seendb {

// Which sources are of buckets whose history is whole by what is known now.
std::vector<bool> HitCheck::WholeSources(const FilterScratch& scratch) const {
  std::vector<bool> whole(scratch.sources.size(), false);
  const std::shared_ptr<const UserRecord> settings = shard_.users.Find(user_);
  const std::shared_ptr<const FamilySet> families = shard_.store->families();
  const CollectionFamilies* family = families->Find(collection_.name);
  if (family == nullptr) return whole;
  const int64_t now_ms = shard_.clock->NowMs();
  for (size_t s = 0; s < scratch.sources.size(); ++s) {
    const SourceView& source = scratch.sources[s];
    if (source.kind != ReasonKind::kPlay && source.kind != ReasonKind::kRing) continue;
    whole[s] = true;
    for (int64_t bucket = source.bucket; bucket <= source.newest_bucket && whole[s]; ++bucket) {
      whole[s] = HistoryIsWhole(*family, settings.get(), bucket, now_ms);
    }
  }
  return whole;
}

// Notes the suspects that scratch.candidates.hits names as hit by the source.
void HitCheck::HitAll(uint32_t source, bool proves, const FilterScratch& scratch) {
  for (size_t i = 0; i < suspects_.size(); ++i) {
    if (scratch.candidates.hits[i] == 0) continue;
    suspects_[i].proven = suspects_[i].proven || proves;
    if (hits_.empty() || hits_.back().suspect != i || hits_.back().source != source) {
      hits_.push_back({i, source});
    }
  }
}

// A hit is believed where history can't tell better.
void HitCheck::ProbeSource(uint32_t source, bool whole, FilterScratch& scratch) {
  const FilterView& view = scratch.sources[source].view;
  const auto probe_list = [&](const uint8_t* packed, size_t count) {
    if (count == 0) return;
    ProbeSortedList(packed, count, fingerprints_.data(), fingerprints_.size(),
                    scratch.candidates.hits.data(), &scratch.candidates.probe);
    HitAll(source, !whole, scratch);
  };
  probe_list(view.list, view.list_count);
  for (uint32_t i = 0; i < view.layer_count; ++i) {
    const LayerView& layer = view.layers[i];
    if (layer.blocks == 0) {
      probe_list(layer.bits, layer.items);
      continue;
    }
    const BlockFilter filter = {layer.bits, layer.blocks};
    ProbeMany(&filter, 1, fingerprints_.data(), fingerprints_.size(),
              scratch.candidates.hits.data());
    HitAll(source, !whole, scratch);
  }
}

void HitCheck::FindHits(const std::vector<bool>& whole, FilterScratch& scratch) {
  hits_.clear();
  scratch.candidates.hits.resize(std::max(scratch.candidates.hits.size(), suspects_.size()));
  for (uint32_t s = 0; s < scratch.sources.size(); ++s) {
    const ReasonKind kind = scratch.sources[s].kind;
    if (kind == ReasonKind::kPlay || kind == ReasonKind::kRing) ProbeSource(s, whole[s], scratch);
  }
}

// `newest` is, for each suspect, the newest bucket that history has something of it in: a hit of
// that bucket or an older one stands.
void HitCheck::Decide(const std::vector<int64_t>& newest, FilterScratch& scratch) const {
  std::vector<bool> stands(suspects_.size(), false);
  for (const Hit& hit : hits_) {
    const Suspect& suspect = suspects_[hit.suspect];
    if (suspect.proven || stands[hit.suspect]) continue;
    if (scratch.sources[hit.source].bucket > newest[hit.suspect]) continue;
    stands[hit.suspect] = true;
    scratch.candidates.verdicts[suspect.position] = hit.source + 1;
  }
  for (size_t i = 0; i < suspects_.size(); ++i) {
    if (suspects_[i].proven || stands[i]) continue;
    uint32_t& verdict = scratch.candidates.verdicts[suspects_[i].position];
    scratch.candidates.refuted[suspects_[i].position] = verdict;
    verdict = 0;
  }
}

void HitCheck::Run(std::span<const IdRef> items, size_t begin, size_t end, FilterScratch& scratch) {
  const std::vector<bool> whole = WholeSources(scratch);
  suspects_.clear();
  fingerprints_.clear();
  for (size_t i = begin; i < end; ++i) {
    const uint32_t verdict = scratch.candidates.verdicts[i];
    if (verdict == 0 || !whole[verdict - 1]) continue;
    suspects_.push_back({i});
    fingerprints_.push_back(scratch.candidates.fingerprints[i]);
  }
  if (suspects_.empty()) return;
  FindHits(whole, scratch);
  std::vector<std::string> texts;
  std::vector<size_t> asked;  // suspects
  for (size_t i = 0; i < suspects_.size(); ++i) {
    if (suspects_[i].proven) continue;
    texts.push_back(items[suspects_[i].position].ToString());
    asked.push_back(i);
  }
  if (asked.empty()) return;
  SEENDB_PAUSE_POINT("verify: first look");
  if (!reader_) reader_.emplace(shard_, collection_, user_, shard_.clock->NowMs(), &gaps_);
  const std::vector<FoundState> found =
      reader_->Find(std::vector<std::string_view>(texts.begin(), texts.end()), Sought::kNewest);
  SEENDB_PAUSE_POINT("verify: history read");
  // What was cleared, dropped or changed meanwhile may be what was not found.
  if (gaps_.degraded || WholeSources(scratch) != whole) return;
  std::vector<int64_t> newest(suspects_.size(), std::numeric_limits<int64_t>::min());
  for (size_t i = 0; i < asked.size(); ++i) {
    if (found[i].time_ms() == kNoTimeMs) continue;
    newest[asked[i]] = BucketIndexOf(collection_.policy, found[i].time_ms());
  }
  Decide(newest, scratch);
}

}  // namespace seendb
