// The read path: ring entries first, then the family set, then RocksDB; any other order could miss
// a delta that a drain is just moving.

#include "shard/filter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/pause_point.h"
#include "format/impressions_codec.h"
#include "merge/operands_merged.h"
#include "query/probe.h"
#include "shard/hit_check.h"
#include "shard/served_check.h"

namespace seendb {
namespace {

using Scratch = FilterScratch;
using SteadyTime = std::chrono::steady_clock::time_point;

void MarkMissing(FilterResponse* response, std::string label) {
  response->degraded = true;
  response->missing.push_back(std::move(label));
}

// What the ring has of a user.
struct Staged {
  std::vector<Fingerprint> items;
  BucketSpan buckets;
};

// Reads the sources of one request, in the order of the reasons.
class SourceReader {
 public:
  SourceReader(const ShardParts& shard, const Collection& collection, const FilterRequest& request,
               std::string_view user, int64_t now_ms, SteadyTime deadline, Scratch& scratch,
               FilterResponse* response)
      : shard_(shard),
        collection_(collection),
        request_(request),
        user_(user),
        oldest_bucket_(BucketIndexOf(collection.policy, now_ms) -
                       static_cast<int64_t>(collection.policy.window) + 1),
        scratch_(scratch),
        response_(response),
        deadline_(deadline) {
    if (request.memory_only) options_.read_tier = rocksdb::kBlockCacheTier;
  }

  /// Whether the deadline has passed.
  bool TimeIsUp() const {
    return late_ ||
           (deadline_ != SteadyTime::max() && std::chrono::steady_clock::now() >= deadline_);
  }
  /// Nothing is to be read but memory, for the reason that `missing` is to say.
  void BeginLate(const char* reason) {
    late_ = true;
    MarkMissing(response_, reason);
  }
  /// Memory alone was asked, and can't tell.
  bool needs_disk() const { return needs_disk_; }
  /// Where the user has overrides: them; else null.
  const CollectionMarks* overrides() const { return marks_; }

  /// What the ring and the short-term store have: what a shard still knows that is being opened
  /// anew. Its database is not touched.
  void ReadMemory() {
    MarkMissing(response_, "shard");
    FindOverrides(RecordTier::kCached);
    if (!request_.exclude.empty()) AddExcluded();
    if ((request_.facts & kFactPlays) == 0) return;
    Staged staged;
    CollectStaged(false, &staged);
    CollectStaged(true, &staged);
    AddStaged(std::move(staged));
  }

  void ReadAll(Counters* counters) {
    FindOverrides(request_.short_term_alone ? RecordTier::kCached
                  : request_.memory_only    ? RecordTier::kMemory
                  : late_                   ? RecordTier::kCached
                                            : RecordTier::kDisk);
    if (needs_disk_) return;
    if (settings_ != nullptr) RecordNotBefore(settings_->ForgottenIn(collection_.name).at_ms + 1);
    if (request_.record && marks_ != nullptr) {
      for (const auto& [item, deleted] : marks_->overrides) RecordNotBefore(deleted.at_ms + 1);
    }
    const bool plays = (request_.facts & kFactPlays) != 0;
    Staged staged;
    if (plays) CollectStaged(false, &staged);
    SEENDB_PAUSE_POINT("filter: ring read");
    const std::shared_ptr<const FamilySet> families = shard_.store->families();
    const CollectionFamilies* family = families->Find(collection_.name);
    SEENDB_PAUSE_POINT("filter: set taken");
    if (!shard_.store->readable()) {
      MarkMissing(response_, "shard");
      if (plays) CollectStaged(true, &staged);
    }
    if (!request_.exclude.empty()) AddExcluded();
    const uint64_t merged_before = OperandsMergedOnThisThread();
    if (family != nullptr) CheckLog(*family);
    const bool counts = (request_.facts & kFactImpressions) != 0;
    if (family != nullptr && (counts || request_.record)) ReadImpressions(*family, counts);
    AddStaged(std::move(staged));
    if (family != nullptr && plays && !needs_disk_) ReadBuckets(*family);
    counters->reads.fetch_add(reads_, std::memory_order_relaxed);
    counters->read_operands.fetch_add(OperandsMergedOnThisThread() - merged_before,
                                      std::memory_order_relaxed);
  }

 private:
  // Overrides that are not found lift nothing: an item more may be seen, none is unseen.
  void FindOverrides(RecordTier tier) {
    const Status found = shard_.users.Find(user_, tier, &settings_);
    if (found.code() == StatusCode::kIncomplete) {
      needs_disk_ = tier == RecordTier::kMemory;
    } else if (!found.ok()) {
      MarkMissing(response_, "user");
    }
    if (settings_ == nullptr) return;
    const auto at = settings_->marks.find(collection_.name);
    if (at != settings_->marks.end() && !at->second.overrides.empty()) marks_ = &at->second;
  }

  bool Late() {
    if (late_ || deadline_ == SteadyTime::max()) return late_;
    if (std::chrono::steady_clock::now() < deadline_) return false;
    late_ = true;
    MarkMissing(response_, "deadline");
    return true;
  }

  void AddExcluded() {
    SourceBytes& bytes = scratch_.AddSource(ReasonKind::kExcluded, 0);
    bytes.items.resize(request_.exclude.size());
    shard_.hash.OfMany(request_.exclude, bytes.items.data());
    scratch_.sources.back().view = bytes.Pack();
  }

  void CollectStaged(bool drained, Staged* staged) const {
    shard_.ring.Collect(collection_.id, user_, oldest_bucket_, drained, &staged->items,
                        &staged->buckets);
  }

  void AddStaged(Staged staged) {
    if (staged.items.empty()) return;
    SourceBytes& bytes = scratch_.AddSource(ReasonKind::kRing, staged.buckets.oldest);
    scratch_.sources.back().newest_bucket = staged.buckets.newest;
    bytes.items = std::move(staged.items);
    scratch_.sources.back().view = bytes.Pack();
  }

  void CheckLog(const CollectionFamilies& family) {
    if (family.losses.CoversLog(user_, collection_.policy, oldest_bucket_)) {
      MarkMissing(response_, "log");
    }
  }

  rocksdb::Status Get(rocksdb::ColumnFamilyHandle* family, rocksdb::PinnableSlice* value) {
    ++reads_;
    const rocksdb::Status status =
        shard_.store->db()->Get(options_, family, {user_.data(), user_.size()}, value);
    // Of a table that is not open, memory says OK and has no bytes: no value of ours is empty.
    const bool unknown = status.IsIncomplete() || (status.ok() && value->empty());
    needs_disk_ = needs_disk_ || (request_.memory_only && unknown);
    return status;
  }

  // Of what is recorded: an earlier time would be refused, or be the oldest of the list.
  void RecordNotBefore(int64_t at_ms) {
    if (!request_.record) return;
    response_->recorded_at_ms = std::max(response_->recorded_at_ms, at_ms);
  }

  // Where they don't count: for the time of the newest, which what is recorded must not precede.
  void ReadImpressions(const CollectionFamilies& family, bool counts) {
    // Opened read-only, a collection that was just being made has no family yet.
    if (family.impressions == nullptr || Late()) return;
    SourceBytes& bytes = scratch_.AddSource(ReasonKind::kImpression, 0);
    const rocksdb::Status status = Get(family.impressions->get(), &bytes.value);
    ImpressionList list;
    const bool readable =
        status.IsNotFound() || (status.ok() && list.Parse(bytes.value.ToStringView()));
    const int64_t oldest_ms = BucketBeginMs(collection_.policy, oldest_bucket_);
    if (needs_disk_) return;
    if (!list.entries.empty()) RecordNotBefore(list.entries.front().at_ms);
    if (!counts) return scratch_.DropLastSource();
    if (!readable || !list.damage.empty() ||
        family.losses.CoversImpressions(user_, collection_.policy, oldest_bucket_)) {
      MarkMissing(response_, "impressions");
      if (status.ok()) NameNewer(*family.impressions, "impressions", bytes.value);
    }
    if (readable) {
      // Newest first; the policy may keep fewer by now than when the value was written.
      const size_t kept = std::min<size_t>(list.entries.size(), collection_.policy.impressions);
      for (size_t i = 0; i < kept && list.entries[i].at_ms >= oldest_ms; ++i) {
        const ImpressionEntry& entry = list.entries[i];
        if (IsLifted(entry)) continue;
        bytes.items.push_back(entry.item);
        if (request_.verify && !entry.id.empty()) bytes.ids.emplace_back(entry.item, entry.id);
      }
      std::sort(bytes.ids.begin(), bytes.ids.end());
    }
    scratch_.sources.back().view = bytes.Pack();
  }

  // Whether the item was deleted from history after it was served.
  bool IsLifted(const ImpressionEntry& entry) const {
    if (marks_ == nullptr) return false;
    const Override* deleted = marks_->FindOverride(entry.item);
    return deleted != nullptr && entry.at_ms <= deleted->at_ms;
  }

  // What only newer software reads is for the operator to know.
  void NameNewer(const Family& family, const std::string& label,
                 const rocksdb::PinnableSlice& value) const {
    const Fault fault = family.kind().check(user_, value.ToStringView());
    if (fault.newer)
      shard_.store->problems().Add(collection_.name + "/" + label + ": " + fault.reason);
  }

  // False where the bucket's value can't be read whole.
  bool ReadBucket(const Bucket& bucket) {
    SourceBytes& bytes = scratch_.AddSource(ReasonKind::kPlay, bucket.index);
    const rocksdb::Status status = Get(bucket.family->get(), &bytes.value);
    if (needs_disk_) return false;
    FilterView& view = scratch_.sources.back().view;
    const bool readable = status.ok() && view.Parse(bytes.value.ToStringView());
    if (readable && view.damage.empty()) return true;
    if (status.ok()) NameNewer(*bucket.family, bucket.label, bytes.value);
    if (!readable) scratch_.DropLastSource();
    return status.IsNotFound();
  }

  // Whether a bucket was dropped that the window reaches again, as the clock was set back. Of
  // several the newest is named.
  bool MarkDropped(const CollectionFamilies& family) {
    if (!family.dropped || *family.dropped < oldest_bucket_) return false;
    MarkMissing(response_, BucketLabel(family.policy, *family.dropped));
    return true;
  }

  void ReadBuckets(const CollectionFamilies& family) {
    bool lost = MarkDropped(family);
    for (const auto& [index, bucket] : family.buckets) {
      if (index < oldest_bucket_) break;
      if (Late()) {
        lost = true;
        break;
      }
      const bool lacks = family.losses.CoversFilters(user_, bucket->label);
      if (ReadBucket(*bucket) && !lacks) continue;
      if (needs_disk_) return;
      if (index != family.dropped) MarkMissing(response_, bucket->label);
      lost = true;
    }
    if (!lost) return;
    // What was drained lately is still in memory.
    Staged drained;
    CollectStaged(true, &drained);
    AddStaged(std::move(drained));
  }

  const ShardParts& shard_;
  const Collection& collection_;
  const FilterRequest& request_;
  const std::string_view user_;
  const int64_t oldest_bucket_;
  Scratch& scratch_;
  FilterResponse* const response_;
  UserRecordPtr settings_;                  // of the user, or null
  const CollectionMarks* marks_ = nullptr;  // of settings_
  const SteadyTime deadline_;               // max(): none
  rocksdb::ReadOptions options_;
  bool late_ = false;
  bool needs_disk_ = false;
  uint64_t reads_ = 0;
};

// `open`: the caller is inside the shard. False where memory alone can't tell.
bool Answer(const ShardParts& shard, const FilterRead& read, bool open, FilterResponse* response) {
  const FilterRequest& request = read.request;
  const Collection& collection = read.collection;
  thread_local Scratch scratch;
  scratch.sources.clear();
  Candidates& candidates = scratch.candidates;
  const Present now = shard.clock->Look();
  if (now.in_doubt) MarkMissing(response, "clock");  // the window may be another one
  SourceReader reader(shard, collection, request, read.user, now.ms, read.deadline, scratch,
                      response);
  if (read.late) {
    reader.BeginLate("deadline");
  } else if (request.short_term_alone) {
    reader.BeginLate("load");
  }
  if (open) {
    reader.ReadAll(shard.counters);
  } else {
    reader.ReadMemory();
  }
  if (reader.needs_disk()) {
    scratch.DropAllSources();
    response->missing.clear();
    response->degraded = false;
    return false;
  }

  const size_t count = request.items.size();
  candidates.fingerprints.resize(count);
  candidates.verdicts.assign(count, 0);
  candidates.repeats.resize(count);
  candidates.distinct.Begin(count);
  std::optional<HitCheck> check;
  if (request.verify) {
    candidates.refuted.assign(count, 0);
    check.emplace(shard, collection, read.user);
  }
  response->unseen.reserve(count);
  // With a limit, a piece at a time: the rest need not be decided.
  const size_t piece =
      request.limit == 0 ? count : std::max<size_t>(512, size_t{4} * request.limit);
  for (size_t begin = 0; begin < count; begin += piece) {
    const size_t end = std::min(count, begin + piece);
    shard.hash.OfMany(request.items.subspan(begin, end - begin),
                      candidates.fingerprints.data() + begin);
    MarkRepeats(request.items, begin, end, &candidates);
    ProbeRange(scratch.sources, begin, end, &candidates);
    if (reader.overrides() != nullptr) {
      LiftOverrides(scratch.sources, *reader.overrides(), begin, end, &candidates);
    }
    // Nothing is refuted where a source is missing: it may be the one that was right.
    if (check && !response->degraded && !reader.TimeIsUp()) {
      CheckServed(request.items, reader.overrides(), begin, end, scratch);
      check->Run(request.items, begin, end, scratch);
    }
    if (Collect(scratch.sources, candidates, request, begin, end, response)) break;
  }
  scratch.DropAllSources();
  return true;
}

}  // namespace

bool AnswerFilter(const ShardParts& shard, const FilterRead& read, FilterResponse* response) {
  return Answer(shard, read, true, response);
}

void AnswerFromMemory(const ShardParts& shard, const FilterRead& read, FilterResponse* response) {
  Answer(shard, read, false, response);
}

}  // namespace seendb
