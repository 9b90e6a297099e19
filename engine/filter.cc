// The read path: ring entries first, then the family set, then RocksDB; any other order could miss
// a delta that a drain is just moving. Candidates are hashed once and probed against one source
// after the other, newest first; those found drop out.

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <optional>

#include "engine_impl.h"
#include "filter/block_bloom.h"
#include "filter_verify.h"
#include "format/impressions_codec.h"
#include "store/scan.h"

namespace seendb {
namespace {

using Source = FilterSource;
using Scratch = FilterScratch;
using SteadyTime = std::chrono::steady_clock::time_point;

// Removes from pending what the last probe hit, noting what `verdict_of` makes of the hit: 0, for
// pending as before, or a verdict. Hits come at random, so nothing branches on them.
template <typename VerdictOf>
void TakeHits(Scratch& scratch, VerdictOf verdict_of) {
  Fingerprint* const pending = scratch.pending.data();
  uint32_t* const positions = scratch.positions.data();
  uint32_t* const verdicts = scratch.verdicts.data();
  const uint8_t* const hits = scratch.hits.data();
  const size_t count = scratch.pending.size();
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t position = positions[i];
    verdicts[position] = verdict_of(hits[i]);
    pending[kept] = pending[i];
    positions[kept] = position;
    kept += static_cast<size_t>(hits[i] == 0);
  }
  scratch.pending.resize(kept);
  scratch.positions.resize(kept);
}

// Probes what is pending against one part of the sources after the other, in their order; block
// filters that follow each other together.
class Prober {
 public:
  explicit Prober(Scratch& scratch) : scratch_(scratch) {}

  void ProbeAll() {
    for (size_t s = 0; s < scratch_.source_count; ++s) {
      Add(scratch_.sources[s]->view, static_cast<uint32_t>(s + 1));
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
    if (scratch_.pending.empty()) return;
    ProbeSortedList(packed, count, scratch_.pending.data(), scratch_.pending.size(),
                    scratch_.hits.data(), &scratch_.probe);
    TakeHits(scratch_, [verdict](uint32_t hit) { return hit * verdict; });
  }

  void ProbeFilters() {
    if (count_ > 0 && !scratch_.pending.empty()) {
      ProbeMany(filters_.data(), count_, scratch_.pending.data(), scratch_.pending.size(),
                scratch_.hits.data());
      // Of several filters the first in order counts.
      std::array<uint32_t, size_t{1} << kProbedAtOnce> verdict_of{};
      for (size_t hit = 1; hit < verdict_of.size(); ++hit) {
        verdict_of[hit] = verdicts_[static_cast<size_t>(std::countr_zero(hit))];
      }
      TakeHits(scratch_, [&](uint32_t hit) { return verdict_of[hit]; });
    }
    count_ = 0;
  }

  Scratch& scratch_;
  std::array<BlockFilter, kProbedAtOnce> filters_;
  std::array<uint32_t, kProbedAtOnce> verdicts_{};
  size_t count_ = 0;
};

// Decides items [begin, end) of the request.
void ProbeRange(Scratch& scratch, size_t begin, size_t end) {
  const size_t count = end - begin;
  scratch.pending.assign(scratch.fingerprints.begin() + static_cast<int64_t>(begin),
                         scratch.fingerprints.begin() + static_cast<int64_t>(end));
  scratch.positions.resize(count);
  scratch.hits.resize(count);
  for (size_t i = 0; i < count; ++i) scratch.positions[i] = static_cast<uint32_t>(begin + i);
  Prober(scratch).ProbeAll();
}

// Items deleted from history that may be recommended again are unseen, unless they were served
// since.
void LiftOverrides(Scratch& scratch, const CollectionMarks& marks, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const uint32_t verdict = scratch.verdicts[i];
    if (verdict == 0) continue;
    const ReasonKind kind = scratch.sources[verdict - 1]->kind;
    if (kind != ReasonKind::kRing && kind != ReasonKind::kPlay) continue;
    if (marks.FindOverride(scratch.fingerprints[i]) != nullptr) scratch.verdicts[i] = 0;
  }
}

// Turns the verdicts of a range into the answer, all of it: no limit, no reasons, nothing excluded.
void CollectAll(const Scratch& scratch, size_t begin, size_t end, FilterResponse* response) {
  const size_t before = response->unseen.size();
  response->unseen.resize(before + (end - begin));
  uint32_t* const unseen = response->unseen.data();
  size_t kept = before;
  for (size_t i = begin; i < end; ++i) {
    unseen[kept] = static_cast<uint32_t>(i);
    kept += scratch.verdicts[i] == 0 ? 1 : 0;
  }
  response->unseen.resize(kept);
  response->examined += static_cast<uint32_t>(end - begin);
  response->seen += static_cast<uint32_t>((end - begin) - (kept - before));
}

// Turns the verdicts of a range into the answer item by item; true once `limit` unseen are found.
bool Collect(const Scratch& scratch, const FilterRequest& request, size_t begin, size_t end,
             FilterResponse* response) {
  if (request.limit == 0 && !request.explain && !request.verify && request.exclude.empty()) {
    CollectAll(scratch, begin, end, response);
    return false;
  }
  for (size_t i = begin; i < end; ++i) {
    const uint32_t verdict = scratch.verdicts[i];
    ++response->examined;
    Reason reason;
    if (verdict == 0) {
      response->unseen.push_back(static_cast<uint32_t>(i));
      if (const uint32_t refuted = request.verify ? scratch.refuted[i] : 0; refuted != 0) {
        ++response->refuted;
        reason = {ReasonKind::kRefuted, scratch.sources[refuted - 1]->bucket};
      }
    } else {
      const Source& source = *scratch.sources[verdict - 1];
      reason = {source.kind, source.bucket};
      source.kind == ReasonKind::kExcluded ? ++response->excluded : ++response->seen;
    }
    if (request.explain) response->reasons.push_back(reason);
    if (request.limit != 0 && response->unseen.size() >= request.limit) return true;
  }
  return false;
}

bool HasGoodLength(const IdRef& id) {
  const bool fits = id.text().size() - 1 < kMaxIdBytes;  // 1 to kMaxIdBytes
  return (int{id.is_number()} | int{fits}) != 0;         // without a branch
}

Status CheckLengths(std::span<const IdRef> ids, const char* list) {
  bool good = true;
  for (const IdRef& id : ids) good &= HasGoodLength(id);
  if (good) return {};
  const auto bad = std::find_if_not(ids.begin(), ids.end(), HasGoodLength);
  return Status::InvalidArgument(
      bad->text().empty() ? "an id must not be empty"
                          : "an id is at most " + std::to_string(kMaxIdBytes) + " bytes",
      std::string("/").append(list).append("/").append(std::to_string(bad - ids.begin())));
}

Status CheckRequest(const FilterRequest& request, const Options& options) {
  const Status user = CheckUser(request.user);
  if (!user.ok()) return user;
  const auto too_many = [&](std::string_view what) {
    return Status::InvalidArgument("at most " + std::to_string(options.max_candidates) + " ids",
                                   std::string(what));
  };
  if (request.items.size() > options.max_candidates) return too_many("/items");
  if (request.exclude.size() > options.max_candidates) return too_many("/exclude");
  if ((request.facts & kFactsAll) == 0 || (request.facts & ~kFactsAll) != 0) {
    return Status::InvalidArgument("facts must name plays, impressions or both", "/facts");
  }
  const Status items = CheckLengths(request.items, "items");
  return items.ok() ? CheckLengths(request.exclude, "exclude") : items;
}

void MarkMissing(FilterResponse* response, std::string label) {
  response->degraded = true;
  response->missing.push_back(std::move(label));
}

// Reads the sources of one request, in the order of the reasons.
class SourceReader {
 public:
  SourceReader(const Shard& shard, const Collection& collection, const FilterRequest& request,
               std::string_view user, int64_t now_ms, Scratch& scratch, FilterResponse* response)
      : shard_(shard),
        collection_(collection),
        request_(request),
        user_(user),
        oldest_bucket_(BucketIndexOf(collection.policy, now_ms) -
                       static_cast<int64_t>(collection.policy.window) + 1),
        scratch_(scratch),
        response_(response),
        settings_(shard.ring->settings().Find(user)) {
    if (settings_ != nullptr) {
      const auto at = settings_->marks.find(collection.name);
      if (at != settings_->marks.end() && !at->second.overrides.empty()) marks_ = &at->second;
    }
    if (request.deadline_us > 0) {
      deadline_ = std::chrono::steady_clock::now() + std::chrono::microseconds(request.deadline_us);
    }
  }

  /// Whether the deadline has passed.
  bool TimeIsUp() const {
    return late_ ||
           (deadline_ != SteadyTime::max() && std::chrono::steady_clock::now() >= deadline_);
  }
  /// Where the user has overrides: them; else null.
  const CollectionMarks* overrides() const { return marks_; }

  void ReadAll(EngineCounters* counters) {
    const bool plays = (request_.facts & kFactPlays) != 0;
    std::vector<Fingerprint> staged;
    if (plays) shard_.ring->Collect(collection_.id, user_, oldest_bucket_, false, &staged);
    const std::shared_ptr<const FamilySet> families = shard_.store->families();
    const CollectionFamilies* family = families->Find(collection_.name);
    if (!shard_.store->readable()) {
      MarkMissing(response_, "shard");
      if (plays) shard_.ring->Collect(collection_.id, user_, oldest_bucket_, true, &staged);
    }
    if (!request_.exclude.empty()) AddExcluded();
    const uint64_t merged_before = OperandsMergedOnThisThread();
    if (family != nullptr) CheckLog(*family);
    if (family != nullptr && (request_.facts & kFactImpressions) != 0) ReadImpressions(*family);
    if (!staged.empty()) AddStaged(std::move(staged));
    if (family != nullptr && plays) ReadBuckets(*family);
    counters->reads.fetch_add(reads_, std::memory_order_relaxed);
    counters->read_operands.fetch_add(OperandsMergedOnThisThread() - merged_before,
                                      std::memory_order_relaxed);
  }

 private:
  bool Late() {
    if (late_ || deadline_ == SteadyTime::max()) return late_;
    if (std::chrono::steady_clock::now() < deadline_) return false;
    late_ = true;
    MarkMissing(response_, "deadline");
    return true;
  }

  void AddExcluded() {
    Source& source = scratch_.AddSource(ReasonKind::kExcluded, 0);
    source.items.resize(request_.exclude.size());
    FingerprintsOf(request_.exclude, source.items.data());
    source.Pack();
  }

  void AddStaged(std::vector<Fingerprint> staged) {
    Source& source = scratch_.AddSource(ReasonKind::kRing, 0);
    source.items = std::move(staged);
    source.Pack();
  }

  // Whether what was lost may be this user's, and of buckets that are still read.
  bool MayLack(const std::shared_ptr<const Losses>& losses) const {
    if (losses == nullptr || !losses->MayConcern(user_)) return false;
    const int64_t newest_ms = losses->at_ms + collection_.policy.max_future_ms;
    return BucketIndexOf(collection_.policy, newest_ms) >= oldest_bucket_;
  }

  void CheckLog(const CollectionFamilies& family) {
    if (MayLack(family.losses)) MarkMissing(response_, "log");
  }

  rocksdb::Status Get(rocksdb::ColumnFamilyHandle* family, rocksdb::PinnableSlice* value) {
    ++reads_;
    return shard_.store->db()->Get({}, family, {user_.data(), user_.size()}, value);
  }

  void ReadImpressions(const CollectionFamilies& family) {
    // Opened read-only, a collection that was just being made has no family yet.
    if (family.impressions == nullptr || Late()) return;
    Source& source = scratch_.AddSource(ReasonKind::kImpression, 0);
    const rocksdb::Status status = Get(family.impressions->get(), &source.value);
    ImpressionList list;
    const bool readable =
        status.IsNotFound() || (status.ok() && list.Parse(source.value.ToStringView()));
    const int64_t oldest_ms = BucketBeginMs(collection_.policy, oldest_bucket_);
    if (!readable || !list.damage.empty() || MayLack(family.impressions_lost)) {
      MarkMissing(response_, "impressions");
      if (status.ok()) NameNewer(FamilyName::kImpressions, "impressions", source.value);
    }
    if (readable) {
      // Newest first; the policy may keep fewer by now than when the value was written.
      const size_t kept = std::min<size_t>(list.entries.size(), collection_.policy.impressions);
      for (size_t i = 0; i < kept && list.entries[i].at_ms >= oldest_ms; ++i) {
        if (!IsLifted(list.entries[i])) source.items.push_back(list.entries[i].item);
      }
    }
    source.Pack();
  }

  // Whether the item was deleted from history after it was served.
  bool IsLifted(const ImpressionEntry& entry) const {
    if (marks_ == nullptr) return false;
    const Override* deleted = marks_->FindOverride(entry.item);
    return deleted != nullptr && entry.at_ms <= deleted->at_ms;
  }

  // What only newer software reads is for the operator to know.
  void NameNewer(FamilyName::Kind kind, const std::string& label,
                 const rocksdb::PinnableSlice& value) const {
    const ValueFault fault = FaultOf(kind, user_, value.ToStringView());
    if (fault.newer) shard_.store->AddProblem(collection_.name + "/" + label + ": " + fault.reason);
  }

  // False where the bucket's value can't be read whole.
  bool ReadBucket(const Bucket& bucket) {
    Source& source = scratch_.AddSource(ReasonKind::kPlay, bucket.index);
    const rocksdb::Status status = Get(bucket.family->get(), &source.value);
    const bool readable = status.ok() && source.view.Parse(source.value.ToStringView());
    if (readable && source.view.damage.empty()) return true;
    if (status.ok()) NameNewer(FamilyName::kSeen, bucket.label, source.value);
    if (!readable) scratch_.DropLastSource();
    return status.IsNotFound();
  }

  void ReadBuckets(const CollectionFamilies& family) {
    bool lost = false;
    for (const auto& [index, bucket] : family.buckets) {
      if (index < oldest_bucket_) break;
      if (Late()) {
        lost = true;
        break;
      }
      const bool lacks = bucket->lost != nullptr && bucket->lost->MayConcern(user_);
      if (ReadBucket(*bucket) && !lacks) continue;
      MarkMissing(response_, bucket->label);
      lost = true;
    }
    if (!lost) return;
    // What was drained lately is still in memory.
    std::vector<Fingerprint> drained;
    shard_.ring->Collect(collection_.id, user_, oldest_bucket_, true, &drained);
    if (!drained.empty()) AddStaged(std::move(drained));
  }

  const Shard& shard_;
  const Collection& collection_;
  const FilterRequest& request_;
  const std::string_view user_;
  const int64_t oldest_bucket_;
  Scratch& scratch_;
  FilterResponse* const response_;
  const std::shared_ptr<const UserRecord> settings_;  // of the user, or null
  const CollectionMarks* marks_ = nullptr;            // of settings_
  SteadyTime deadline_ = SteadyTime::max();           // none
  bool late_ = false;
  uint64_t reads_ = 0;
};

}  // namespace

Status EngineImpl::Filter(const FilterRequest& request, FilterResponse* response) {
  response->unseen.clear();
  response->missing.clear();
  response->reasons.clear();
  response->seen = response->excluded = response->examined = response->refuted = 0;
  response->degraded = false;
  const Status open = CheckOpen();
  if (!open.ok()) return open;
  const Status checked = CheckRequest(request, options_);
  if (!checked.ok()) return checked;
  const Result<Collection> collection = FindCollection(request.collection);
  if (!collection.ok()) return collection.status();

  thread_local Scratch scratch;
  scratch.source_count = 0;
  const std::string user = request.user.ToString();
  const Shard& shard = shards_[ShardOf(request.user)];
  std::optional<Gate::Scope> inside(*shard.use);
  SourceReader reader(shard, *collection, request, user, clock_->NowMs(), scratch, response);
  reader.ReadAll(&counters_);

  const size_t count = request.items.size();
  scratch.fingerprints.resize(count);
  scratch.verdicts.assign(count, 0);
  std::optional<HitCheck> check;
  if (request.verify) {
    scratch.refuted.assign(count, 0);
    check.emplace(shard, *collection, user, *clock_);
  }
  response->unseen.reserve(count);
  // With a limit, a piece at a time: the rest need not be decided.
  const size_t piece =
      request.limit == 0 ? count : std::max<size_t>(512, size_t{4} * request.limit);
  for (size_t begin = 0; begin < count; begin += piece) {
    const size_t end = std::min(count, begin + piece);
    FingerprintsOf(request.items.subspan(begin, end - begin), scratch.fingerprints.data() + begin);
    ProbeRange(scratch, begin, end);
    if (reader.overrides() != nullptr) LiftOverrides(scratch, *reader.overrides(), begin, end);
    // Nothing is refuted where a source is missing: it may be the one that was right.
    if (check && !response->degraded && !reader.TimeIsUp())
      check->Run(request.items, begin, end, scratch);
    if (Collect(scratch, request, begin, end, response)) break;
  }
  for (size_t i = 0; i < scratch.source_count; ++i) scratch.sources[i]->value.Reset();
  inside.reset();

  counters_.filters.fetch_add(1, std::memory_order_relaxed);
  counters_.candidates.fetch_add(response->examined, std::memory_order_relaxed);
  counters_.candidates_seen.fetch_add(response->seen, std::memory_order_relaxed);
  if (response->degraded) {
    counters_.filters_degraded.fetch_add(1, std::memory_order_relaxed);
    if (request.on_error == OnError::kFail) {
      std::string what;
      for (const std::string& label : response->missing) what += " " + label;
      return Status::Unavailable("could not be read:" + what);
    }
  }
  return request.record ? RecordReturned(request, *response) : Status();
}

Status EngineImpl::RecordReturned(const FilterRequest& request, const FilterResponse& response) {
  std::vector<Impression> served(response.unseen.size());
  for (size_t i = 0; i < served.size(); ++i) {
    served[i].user = request.user;
    served[i].item = request.items[response.unseen[i]];
  }
  const Result<RecordResult> recorded =
      RecordImpressions(served, RecordOptions{.collection = request.collection});
  return recorded.status();
}

}  // namespace seendb
