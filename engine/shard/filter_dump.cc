#include "shard/filter_dump.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/durations.h"
#include "filter/sort.h"
#include "format/dump_parts.h"
#include "shard/filter_scratch.h"
#include "shard/filter_sources.h"

namespace seendb {
namespace {

void AddDumpPart(DumpPartKind kind, std::string body, FilterDump* dump) {
  DumpPart part;
  part.kind = kind;
  part.body = std::move(body);
  part.Seal();
  dump->parts.push_back(std::move(part));
}

void AddDumpList(DumpPartKind kind, std::vector<Fingerprint> items, FilterDump* dump) {
  if (items.empty()) return;
  SortUnique(&items);
  AddDumpPart(kind, DumpedList(items), dump);
}

// An exposed item counts as long as the policy keeps it; the oldest is the first that goes.
void EndAtOldestExposed(const SourceView& source, const Policy& policy, FilterDump* dump) {
  for (const ItemTime& exposed : source.times) {
    const int64_t until_ms = exposed.at_ms + int64_t{policy.exposures.days} * kMsPerDay;
    dump->valid_until_ms = std::min(dump->valid_until_ms, until_ms + 1);
  }
}

// The times are by item, and of one the newest first.
void AddServedIds(const SourceBytes& bytes, FilterDump* dump) {
  for (const auto& [item, id] : bytes.ids) {
    const auto at = std::lower_bound(
        bytes.times.begin(), bytes.times.end(), item,
        [](const ItemTime& time, Fingerprint wanted) { return time.item < wanted; });
    const bool known = at != bytes.times.end() && at->item == item;
    dump->served_ids.push_back({std::string(id), known ? at->at_ms : 0});
  }
}

}  // namespace

void DumpFilter(const ShardParts& shard, const Collection& collection, std::string_view user,
                bool served_ids, FilterDump* dump) {
  // A question with a group reads marks; one that may bring items back, their times.
  static constexpr std::string_view kAnyGroup[] = {"any"};
  const CandidateGroups groups[] = {{.of = kAnyGroup}};
  const Question question{.groups = groups, .when_short = WhenShort{}};
  const FilterRequest request{
      .collection = collection.name, .question = &question, .verify = served_ids};
  const Policy& policy = collection.policy;
  FilterResponse response;
  FilterScratch scratch;
  const Present now = shard.clock->Look();
  if (now.in_doubt) MarkMissing(&response, "clock");
  SourceReader reader(shard, collection, request, user, now.ms, SourceReader::SteadyTime::max(),
                      scratch, &response);
  reader.ReadAll(shard.counters);
  dump->as_of_ms = now.ms;
  dump->window_begin_ms = BucketBeginMs(policy, reader.facts().oldest_bucket);
  dump->valid_until_ms = BucketBeginMs(policy, BucketIndexOf(policy, now.ms) + 1);
  std::vector<Fingerprint> ring, served, exposed, lifted;
  std::vector<DumpPart> buckets;
  for (size_t i = 0; i < scratch.sources.size(); ++i) {
    const SourceView& source = scratch.sources[i];
    switch (source.kind) {
      case ReasonKind::kRing:
        source.view.AppendListTo(&ring);
        break;
      case ReasonKind::kImpression:
        source.view.AppendListTo(&served);
        AddServedIds(*scratch.bytes[i], dump);
        break;
      case ReasonKind::kExposed:
        source.view.AppendListTo(&exposed);
        EndAtOldestExposed(source, policy, dump);
        break;
      case ReasonKind::kPlay: {
        if (source.view.list_count == 0 && source.view.layer_count == 0) break;
        DumpPart& part = buckets.emplace_back();
        part.kind = DumpPartKind::kBucket;
        part.begin_ms = BucketBeginMs(policy, source.bucket);
        part.end_ms = BucketBeginMs(policy, source.bucket + 1);
        part.body = DumpedFilter(source.view);
        part.Seal();
        break;
      }
      default:
        break;
    }
  }
  if (reader.overrides() != nullptr) {
    for (const auto& [item, deleted] : reader.overrides()->overrides) {
      if (reader.overrides()->FindOverride(item) != nullptr) lifted.push_back(item);
    }
  }
  AddDumpList(DumpPartKind::kRing, std::move(ring), dump);
  AddDumpList(DumpPartKind::kImpressions, std::move(served), dump);
  AddDumpList(DumpPartKind::kExposures, std::move(exposed), dump);
  AddDumpList(DumpPartKind::kRecord, std::move(lifted), dump);
  if (!reader.marked().marks.empty()) {
    AddDumpPart(DumpPartKind::kMarks, DumpedMarks(reader.marked()), dump);
  }
  std::move(buckets.begin(), buckets.end(), std::back_inserter(dump->parts));
  dump->degraded = response.degraded;
  dump->missing = std::move(response.missing);
  scratch.DropAllSources();
}

}  // namespace seendb
