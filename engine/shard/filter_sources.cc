#include "shard/filter_sources.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/pause_point.h"
#include "merge/operands_merged.h"
#include "query/excluded.h"
#include "query/marked.h"

namespace seendb {

void MarkMissing(FilterResponse* response, std::string label) {
  response->degraded = true;
  response->missing.push_back(std::move(label));
}

SourceReader::SourceReader(const ShardParts& shard, const Collection& collection,
                           const FilterRequest& request, std::string_view user, int64_t now_ms,
                           SteadyTime deadline, FilterScratch& scratch, FilterResponse* response)
    : shard_(shard),
      collection_(collection),
      request_(request),
      user_(user),
      facts_(FactsCounted(request, collection.policy, now_ms)),
      dated_(request.question != nullptr && request.question->when_short),
      oldest_counted_(BucketIndexOf(collection.policy, now_ms - kCountedForMs)),
      scratch_(scratch),
      response_(response),
      deadline_(deadline) {
  if (request.memory_only) options_.read_tier = rocksdb::kBlockCacheTier;
  if (facts_.asked) response->beyond = facts_.beyond;
}

bool SourceReader::TimeIsUp() const {
  return late_ || (deadline_ != SteadyTime::max() && std::chrono::steady_clock::now() >= deadline_);
}

void SourceReader::BeginLate(const char* reason) {
  late_ = true;
  MarkMissing(response_, reason);
}

bool SourceReader::may_check_span() const {
  return facts_.played && facts_.touched_bucket < facts_.oldest_bucket &&
         collection_.policy.history.enabled && !request_.memory_only;
}

void SourceReader::ReadMemory() {
  MarkMissing(response_, "shard");
  FindOverrides(RecordTier::kCached);
  AddExcluded();
  if (AsksForCaps(request_)) AddCapped();
  if (!facts_.played) return;
  Staged staged;
  CollectStaged(false, facts_.touched_bucket, &staged);
  CollectStaged(true, facts_.touched_bucket, &staged);
  AddStaged(std::move(staged), false);
}

void SourceReader::ReadAll(Counters* counters) {
  FindOverrides(request_.short_term_alone ? RecordTier::kCached
                : request_.memory_only    ? RecordTier::kMemory
                : late_                   ? RecordTier::kCached
                                          : RecordTier::kDisk);
  if (needs_disk_) return;
  if (settings_ != nullptr) RecordNotBefore(settings_->ForgottenIn(collection_.name).at_ms + 1);
  if (request_.record && marks_ != nullptr) {
    for (const auto& [item, deleted] : marks_->overrides) RecordNotBefore(deleted.at_ms + 1);
  }
  const bool plays = facts_.played;
  const bool touches = plays && facts_.touched_bucket < facts_.oldest_bucket;
  Staged staged, touched;  // the second has both
  if (plays) CollectStaged(false, facts_.oldest_bucket, &staged);
  if (touches) CollectStaged(false, facts_.touched_bucket, &touched);
  SEENDB_PAUSE_POINT("filter: ring read");
  const std::shared_ptr<const FamilySet> families = shard_.store->families();
  const CollectionFamilies* family = families->Find(collection_.name);
  SEENDB_PAUSE_POINT("filter: set taken");
  if (!shard_.store->readable()) {
    MarkMissing(response_, "shard");
    if (plays) CollectStaged(true, facts_.oldest_bucket, &staged);
    if (touches) CollectStaged(true, facts_.touched_bucket, &touched);
  }
  AddExcluded();
  const uint64_t merged_before = OperandsMergedOnThisThread();
  if (family != nullptr) CheckLog(*family);
  if (family != nullptr) ReadLists(*family);
  if (AsksForMarks(request_) && families->own != nullptr && !needs_disk_) ReadMarks(*families);
  if (AsksForCaps(request_)) ReadCounts(family);
  AddStaged(std::move(staged), false);
  if (family != nullptr && plays && !needs_disk_) ReadBuckets(*family);
  AddStaged(std::move(touched), true);
  counters->reads.fetch_add(reads_, std::memory_order_relaxed);
  counters->read_operands.fetch_add(OperandsMergedOnThisThread() - merged_before,
                                    std::memory_order_relaxed);
}

void SourceReader::FindOverrides(RecordTier tier) {
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

bool SourceReader::Late() {
  if (late_ || deadline_ == SteadyTime::max()) return late_;
  if (std::chrono::steady_clock::now() < deadline_) return false;
  late_ = true;
  MarkMissing(response_, "deadline");
  return true;
}

void SourceReader::AddExcluded() {
  if (!request_.exclude.empty()) {
    SourceBytes& bytes = scratch_.AddSource(ReasonKind::kExcluded, 0);
    bytes.items.resize(request_.exclude.size());
    shard_.hash.OfMany(request_.exclude, bytes.items.data());
    scratch_.sources.back().view = bytes.Pack();
  }
  const std::span<const ExcludedSet> sets = ExcludedSetsOf(request_);
  if (!sets.empty()) in_set_verdict_ = static_cast<uint32_t>(scratch_.sources.size()) + 1;
  for (const ExcludedSet& set : sets) {
    scratch_.AddSource(ReasonKind::kInSet, 0);
    scratch_.sources.back().name = set.name;
    if (set.items->damaged()) MarkMissing(response_, "set:" + std::string(set.name));
  }
}

void SourceReader::CollectStaged(bool drained, int64_t oldest_bucket, Staged* staged) const {
  if (dated_) staged->buckets.runs = &staged->runs;
  shard_.ring.Collect(collection_.id, user_, oldest_bucket, drained, &staged->items,
                      &staged->buckets);
  staged->buckets.runs = nullptr;
}

void SourceReader::AddStagedByBucket(const Staged& staged, bool touched) {
  std::map<int64_t, Staged, std::greater<>> by_bucket;
  auto begin = staged.items.begin();
  for (const BucketRun& run : staged.runs) {
    const auto end = staged.items.begin() + static_cast<int64_t>(run.end);
    Staged& own = by_bucket[run.bucket];
    own.items.insert(own.items.end(), begin, end);
    own.buckets.Meet(run.bucket);
    begin = end;
  }
  for (auto& [bucket, own] : by_bucket) AddStaged(std::move(own), touched);
}

void SourceReader::AddStaged(Staged staged, bool touched) {
  if (staged.items.empty()) return;
  if (!staged.runs.empty()) return AddStagedByBucket(staged, touched);
  SourceBytes& bytes = scratch_.AddSource(ReasonKind::kRing, staged.buckets.oldest);
  scratch_.sources.back().newest_bucket = staged.buckets.newest;
  scratch_.sources.back().touched = touched;
  bytes.items = std::move(staged.items);
  scratch_.sources.back().view = bytes.Pack();
}

void SourceReader::CheckLog(const CollectionFamilies& family) {
  if (family.losses.CoversLog(user_, collection_.policy, facts_.oldest_read)) {
    MarkMissing(response_, "log");
  }
}

rocksdb::Status SourceReader::Get(rocksdb::ColumnFamilyHandle* family,
                                  rocksdb::PinnableSlice* value) {
  ++reads_;
  const rocksdb::Status status =
      shard_.store->db()->Get(options_, family, {user_.data(), user_.size()}, value);
  // Memory says OK of a table that is not open, and has no bytes: no value of ours is empty.
  const bool unknown = status.IsIncomplete() || (status.ok() && value->empty());
  needs_disk_ = needs_disk_ || (request_.memory_only && unknown);
  return status;
}

void SourceReader::RecordNotBefore(int64_t at_ms) {
  if (!request_.record) return;
  response_->recorded_at_ms = std::max(response_->recorded_at_ms, at_ms);
}

void SourceReader::ReadLists(const CollectionFamilies& family) {
  // Opened read-only, a collection that was just being made has no family yet.
  if (family.impressions != nullptr && (!facts_.served.empty() || request_.record)) {
    ReadList(*family.impressions, Fact::kServed, facts_.served, family);
  }
  if (family.exposures != nullptr && !facts_.exposed.empty() && !needs_disk_) {
    ReadList(*family.exposures, Fact::kExposed, facts_.exposed, family);
  } else {
    TellBeyond(Fact::kExposed, facts_.exposed, {});
  }
}

bool SourceReader::MayHaveLost(Fact fact, const ListRules& rules,
                               const CollectionFamilies& family) const {
  const Policy& policy = collection_.policy;
  const int64_t oldest = BucketIndexOf(policy, rules.oldest_ms());
  return fact == Fact::kServed ? family.losses.CoversImpressions(user_, policy, oldest)
                               : family.losses.CoversExposures(user_, policy, oldest);
}

void SourceReader::ReadList(const Family& from, Fact fact, const ListRules& rules,
                            const CollectionFamilies& family) {
  if (Late()) return;
  const bool served = fact == Fact::kServed;
  SourceBytes& bytes =
      scratch_.AddSource(served ? ReasonKind::kImpression : ReasonKind::kExposed, 0);
  const rocksdb::Status status = Get(from.get(), &bytes.value);
  ImpressionList list;
  const bool readable =
      status.IsNotFound() || (status.ok() && list.Parse(bytes.value.ToStringView()));
  if (needs_disk_) return;
  if (served && !list.entries.empty()) RecordNotBefore(list.entries.front().at_ms);
  if (rules.empty()) return scratch_.DropLastSource();
  if (!readable || !list.damage.empty() || MayHaveLost(fact, rules, family)) {
    const std::string label(served ? "impressions" : FactName(fact));
    MarkMissing(response_, label);
    if (status.ok()) NameNewer(from, label, bytes.value);
  }
  if (readable) {
    AddCounted(list, rules, served && request_.verify, &bytes);
    TellBeyond(fact, rules, list.entries);
  }
  scratch_.sources.back().view = bytes.Pack();
  scratch_.sources.back().times = bytes.times;
}

void SourceReader::ReadMarks(const FamilySet& families) {
  if (Late()) return;
  SourceBytes& bytes = scratch_.AddSource(ReasonKind::kMarked, 0);
  const rocksdb::Status status = Get(families.own->get(), &bytes.value);
  if (needs_disk_) return;
  const bool readable = status.ok() && marked_.Parse(bytes.value.ToStringView());
  const bool missing = status.ok() ? !readable || !marked_.damage.empty() : !status.IsNotFound();
  if (missing || families.own_losses.CoversOwn(user_, collection_.policy, facts_.oldest_read)) {
    MarkMissing(response_, kOwnLabel);
    if (status.ok()) NameNewer(*families.own, kOwnLabel, bytes.value);
  }
  if (!readable) return scratch_.DropLastSource();
  marked_verdict_ = static_cast<uint32_t>(scratch_.sources.size());
}

SourceBytes& SourceReader::AddCapped() {
  SourceBytes& bytes = scratch_.AddSource(ReasonKind::kCapped, 0);
  capped_verdict_ = static_cast<uint32_t>(scratch_.sources.size());
  return bytes;
}

void SourceReader::ReadCounts(const CollectionFamilies* family) {
  SourceBytes& bytes = AddCapped();
  if (family == nullptr || family->counts == nullptr || needs_disk_ || Late()) return;
  const rocksdb::Status status = Get(family->counts->get(), &bytes.value);
  if (needs_disk_) return;
  const bool readable = status.ok() && counted_.Parse(bytes.value.ToStringView());
  const bool missing = status.ok() ? !readable || !counted_.damage.empty() : !status.IsNotFound();
  if (missing || family->losses.CoversCounts(user_, collection_.policy, oldest_counted_)) {
    MarkMissing(response_, kCountsLabel);
    if (status.ok()) NameNewer(*family->counts, kCountsLabel, bytes.value);
  }
  if (!readable) counted_ = {};
}

size_t SourceReader::KeptOf(Fact fact) const {
  return fact == Fact::kServed ? collection_.policy.impressions
                               : collection_.policy.exposures.recent;
}

void SourceReader::AddCounted(const ImpressionList& list, const ListRules& rules, bool with_ids,
                              SourceBytes* bytes) const {
  const bool served = scratch_.sources.back().kind == ReasonKind::kImpression;
  const size_t kept =
      std::min(list.entries.size(), KeptOf(served ? Fact::kServed : Fact::kExposed));
  const int64_t oldest_ms = rules.oldest_ms();
  for (size_t i = 0; i < kept && list.entries[i].at_ms >= oldest_ms; ++i) {  // newest first
    const ImpressionEntry& entry = list.entries[i];
    if (!rules.Count(i, entry.at_ms, entry.surface) || IsLifted(entry)) continue;
    bytes->items.push_back(entry.item);
    if (with_ids && !entry.id.empty()) bytes->ids.emplace_back(entry.item, entry.id);
    if (dated_) bytes->times.push_back({entry.item, entry.at_ms});
  }
  std::stable_sort(bytes->times.begin(), bytes->times.end(),
                   [](const ItemTime& a, const ItemTime& b) { return a.item < b.item; });
  std::sort(bytes->ids.begin(), bytes->ids.end());
}

void SourceReader::TellBeyond(Fact fact, const ListRules& rules,
                              std::span<const ImpressionEntry> entries) {
  if (!facts_.asked) return;
  const size_t kept = KeptOf(fact);
  const bool full = entries.size() >= kept;
  for (const ListRule& rule : rules.all()) {
    const bool all = rule.last == std::numeric_limits<uint32_t>::max();
    const bool cut = full && all && (kept == 0 || entries[kept - 1].at_ms > rule.oldest_ms);
    if (cut || rule.short_of_span) response_->beyond |= FactBit(fact);
  }
}

bool SourceReader::IsLifted(const ImpressionEntry& entry) const {
  if (marks_ == nullptr) return false;
  const Override* deleted = marks_->FindOverride(entry.item);
  return deleted != nullptr && entry.at_ms <= deleted->at_ms;
}

void SourceReader::NameNewer(const Family& family, const std::string& label,
                             const rocksdb::PinnableSlice& value) const {
  const Fault fault = family.kind().check(user_, value.ToStringView());
  if (fault.newer)
    shard_.store->problems().Add(collection_.name + "/" + label + ": " + fault.reason);
}

bool SourceReader::ReadBucket(const Bucket& bucket) {
  SourceBytes& bytes = scratch_.AddSource(ReasonKind::kPlay, bucket.index);
  scratch_.sources.back().touched = bucket.index < facts_.oldest_bucket;
  const rocksdb::Status status = Get(bucket.family->get(), &bytes.value);
  if (needs_disk_) return false;
  FilterView& view = scratch_.sources.back().view;
  const bool readable = status.ok() && view.Parse(bytes.value.ToStringView());
  if (readable && view.damage.empty()) return true;
  if (status.ok()) NameNewer(*bucket.family, bucket.label, bytes.value);
  if (!readable) scratch_.DropLastSource();
  return status.IsNotFound();
}

bool SourceReader::MarkDropped(const CollectionFamilies& family) {
  if (!family.dropped || *family.dropped < facts_.touched_bucket) return false;
  MarkMissing(response_, BucketLabel(family.policy, *family.dropped));
  return true;
}

void SourceReader::ReadBuckets(const CollectionFamilies& family) {
  bool lost = MarkDropped(family);
  for (const auto& [index, bucket] : family.buckets) {
    if (index < facts_.touched_bucket) break;
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
  // Slots that were drained lately are still in memory.
  Staged drained;
  CollectStaged(true, facts_.touched_bucket, &drained);
  AddStaged(std::move(drained), false);
}

}  // namespace seendb
