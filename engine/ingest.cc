// Recording events out of a log: as record.cc, but every shard is written, with how far the log
// was read, and leaves out what it has.

#include <algorithm>
#include <optional>
#include <set>

#include "base/counted_kinds.h"
#include "base/facts.h"
#include "recorder.h"

namespace seendb {
namespace {

Status CheckSteps(std::span<const SourceStep> steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string field = "/sources/" + std::to_string(i);
    const SourceStep& step = steps[i];
    if (step.topic.empty() || step.topic.size() > kMaxTopicBytes ||
        step.topic.find('/') != std::string_view::npos) {
      return Status::InvalidArgument("malformed topic", field + "/topic");
    }
    if (step.next_offset < 0) {
      return Status::InvalidArgument("must not be negative", field + "/next_offset");
    }
    if (!std::is_sorted(step.dead_letters.begin(), step.dead_letters.end()) ||
        (!step.dead_letters.empty() && step.dead_letters.back() >= step.next_offset)) {
      return Status::InvalidArgument("must ascend below next_offset", field + "/dead_letters");
    }
    if (step.last && (step.last->offset < 0 || step.last->offset >= step.next_offset ||
                      step.last->time_ms < 0)) {
      return Status::InvalidArgument("must lie below next_offset", field + "/last");
    }
    if (step.from && (*step.from < 0 || *step.from > step.next_offset)) {
      return Status::InvalidArgument("must not lie behind next_offset", field + "/from");
    }
    for (size_t before = 0; before < i; ++before) {
      if (steps[before].topic == step.topic && steps[before].partition == step.partition) {
        return Status::InvalidArgument("a source is named twice", field);
      }
    }
  }
  return {};
}

Status CheckOrigins(const IngestBatch& batch) {
  if (batch.origins.size() != batch.plays.size()) {
    return Status::InvalidArgument("one for each event", "/origins");
  }
  if (batch.plays.size() > kMaxIngestEvents) {
    return Status::InvalidArgument("at most " + std::to_string(kMaxIngestEvents) + " events",
                                   "/plays");
  }
  if (!batch.surfaces.empty() &&
      (batch.surfaces.size() != batch.plays.size() || batch.fact == Fact::kPlayed)) {
    return Status::InvalidArgument("one for each event that was shown", "/surfaces");
  }
  for (size_t i = 0; i < batch.surfaces.size(); ++i) {
    const Status good = CheckSurface(batch.surfaces[i]);
    if (!good.ok()) return good.WithFieldPrefix("/surfaces/" + std::to_string(i));
  }
  for (size_t i = 0; i < batch.origins.size(); ++i) {
    const Origin& origin = batch.origins[i];
    if (origin.source >= batch.sources.size() || origin.offset < 0 ||
        origin.offset >= batch.sources[origin.source].next_offset ||
        batch.sources[origin.source].held) {
      return Status::InvalidArgument("lies outside its source's step",
                                     "/origins/" + std::to_string(i));
    }
    const int64_t arrived_ms = origin.arrived_ms.value_or(0);
    if (arrived_ms < kFirstTimeMs || arrived_ms > kLastTimeMs) {
      return Status::InvalidArgument(
          std::to_string(arrived_ms) + " is no time of the years 1 to 9998",
          "/origins/" + std::to_string(i) + "/arrived_ms");
    }
  }
  return {};
}

// What each event of a batch is judged by: the present of its arrival. Neighbours mostly share it.
class TimesOfArrival {
 public:
  TimesOfArrival(const Policy& policy, int64_t now_ms, std::span<const Origin> origins)
      : policy_(policy), now_ms_(now_ms), origins_(origins), check_(TimeCheck(policy, now_ms)) {}

  TimeCheck& Of(size_t event) {
    const int64_t present_ms = origins_[event].arrived_ms.value_or(now_ms_);
    if (present_ms != present_ms_) check_.emplace(policy_, present_ms);
    present_ms_ = present_ms;
    return *check_;
  }

 private:
  const Policy& policy_;
  const int64_t now_ms_;
  const std::span<const Origin> origins_;
  std::optional<TimeCheck> check_;
  int64_t present_ms_ = now_ms_;
};

// kUnavailable where one that arrives now would be refused as too old, by a clock in doubt.
Status CheckNoneTooOld(const IngestBatch& batch, const TimeCheck& times) {
  Status status;
  for (size_t i = 0; status.ok() && i < batch.plays.size(); ++i) {
    if (!batch.origins[i].arrived_ms) status = times.CheckNoneTooOld(batch.plays.subspan(i, 1));
  }
  return status;
}

// Where each partition has the users of one shard.
Status CheckPartitions(const IngestBatch& batch, uint32_t shards) {
  if (!batch.partition_is_shard) return {};
  for (size_t i = 0; i < batch.sources.size(); ++i) {
    if (batch.sources[i].partition < shards) continue;
    return Status::InvalidArgument("the database has " + std::to_string(shards) + " shards",
                                   "/sources/" + std::to_string(i) + "/partition");
  }
  for (size_t i = 0; i < batch.plays.size(); ++i) {
    const uint32_t partition = batch.sources[batch.origins[i].source].partition;
    const uint32_t shard = ShardOf(batch.plays[i].user, shards);
    if (shard == partition) continue;
    return Status::InvalidArgument("belongs to shard " + std::to_string(shard) +
                                       ", the event comes from partition " +
                                       std::to_string(partition),
                                   "/" + std::to_string(i) + "/user");
  }
  return {};
}

// The shards that a batch goes to, ascending.
std::set<uint32_t> ShardsOf(const IngestBatch& batch, uint32_t shards) {
  std::set<uint32_t> concerned;
  for (uint32_t i = 0; i < shards && !batch.partition_is_shard; ++i) concerned.insert(i);
  for (const SourceStep& step : batch.sources) concerned.insert(step.partition % shards);
  return concerned;
}

}  // namespace

Result<std::optional<Today>> Recorder::TodayOf(const Collection& collection,
                                               const IngestBatch& batch) const {
  std::optional<Today> today = TodayOf(collection, batch.fact);
  if (!today || batch.origins.empty()) return today;
  std::optional<int64_t> last_ms;
  for (size_t i = 0; i < batch.origins.size(); ++i) {
    const std::optional<int64_t> arrived_ms = batch.origins[i].arrived_ms;
    if (i > 0 && arrived_ms == last_ms) continue;
    last_ms = arrived_ms;
    if (!arrived_ms) continue;
    Today then = TodayAt(collection, *arrived_ms);
    if (i > 0 && then.day != today->day) {
      return Status::InvalidArgument("arrived on another day", "/origins/" + std::to_string(i));
    }
    today = std::move(then);
  }
  return today;
}

Result<IngestResult> Recorder::Ingest(const IngestBatch& batch) const {
  const Result<CollectionPtr> found = context_.catalog->Find(batch.collection);
  if (!found.ok()) return found.status();
  const Collection& collection = **found;
  Status status = CheckSteps(batch.sources);
  if (status.ok()) status = CheckOrigins(batch);
  if (status.ok()) status = CheckIds(batch.plays);
  GroupsGiven groups;
  if (status.ok()) status = CheckEventGroups(batch.plays, &groups);
  groups.of = groups.of || ItemsCountedFor(collection.policy.counts) > 0;
  if (status.ok()) status = CheckPartitions(batch, context_.shards->count());
  if (status.ok() && collection.policy.history.enabled) status = CheckWatches(batch.plays);
  if (!status.ok()) return status;
  SortedEvents sorted;
  Result<std::optional<Today>> today = TodayOf(collection, batch);
  if (!today.ok()) return today.status();
  sorted.today = std::move(today).value();
  if (sorted.today) status = CheckDays(batch.plays);
  const Present now = context_.clock->Look();
  const TimeCheck times(collection.policy, now.ms);
  if (status.ok() && now.in_doubt) status = CheckNoneTooOld(batch, times);
  if (!status.ok()) return status;
  std::string numbers;
  TimesOfArrival arrival(collection.policy, now.ms, batch.origins);
  sorted.accepted = SortByShard(
      batch.plays, 0, [&](size_t i) -> TimeCheck& { return arrival.Of(i); },
      context_.shards->count(), **context_.hash, &numbers,
      [&](uint32_t shard, uint32_t index, const Status& why, RefusalReason reason) {
        sorted.refused[shard].push_back({index, why, reason});
      });
  ServedCount served;
  sorted.times = &times;
  sorted.groups = groups;
  if (batch.fact == Fact::kServed && !collection.policy.served_is_seen) sorted.served = &served;
  IngestResult result;
  if (sorted.today) result.day = sorted.today->text;
  status = WriteSteps(batch, collection, sorted, &result);
  context_.counters->ingest_repeated.fetch_add(result.repeated, std::memory_order_relaxed);
  CountTaken(batch.fact, result);
  result.beyond_cap = CountEvicted(&served, collection);
  if (!status.ok()) return status;
  std::sort(result.refusals.begin(), result.refusals.end(),
            [](const Refusal& a, const Refusal& b) { return a.index < b.index; });
  std::sort(result.first_today.begin(), result.first_today.end());
  return result;
}

Status Recorder::CheckOutbox(const IngestBatch& batch, const std::optional<Today>& today) const {
  if (!batch.outbox_first_plays || !today || batch.plays.empty()) return {};
  uint64_t rows = 0;
  for (const std::shared_ptr<Shard>& shard : context_.shards->Attached())
    rows += shard->log().OutboxRows();
  if (rows < context_.options->outbox_max) return {};
  return Status::Busy("the outbox is full: " + std::to_string(rows) +
                      " rows of first plays wait to be told");
}

// Each shard is entered on its own, all of them first to see that none refuses: what one has had is
// left out when the batch comes again.
Status Recorder::WriteSteps(const IngestBatch& batch, const Collection& collection,
                            const SortedEvents& sorted, IngestResult* result) const {
  const std::shared_ptr<const ShardSet> shards = context_.shards->All();  // before the pins
  const std::set<uint32_t> concerned = ShardsOf(batch, context_.shards->count());
  Status status;
  for (const uint32_t i : concerned) {
    status = (*shards)[i] == nullptr ? AbsentShard(i) : (*shards)[i]->log().Check(batch);
    if (!status.ok()) return status;
  }
  status = CheckOutbox(batch, sorted.today);
  if (!status.ok()) return status;
  const GivenEvents given{.fact = batch.fact,
                          .plays = batch.plays,
                          .surfaces = batch.surfaces,
                          .today = sorted.today ? &*sorted.today : nullptr,
                          .times = sorted.times,
                          .served = sorted.served,
                          .groups = sorted.groups};
  const std::span<const ShardGroup> groups = sorted.accepted.groups();
  for (size_t i = 0; given.NeedsFamilies() && i < groups.size(); ++i) {
    status = (*shards)[groups[i].shard]->Prepare(collection.name, given);
    if (!status.ok()) return status;
  }
  std::vector<std::optional<SlotPin>> pins;
  status = PinAll(*shards, sorted.accepted, collection, given, &pins);
  if (!status.ok()) return status;
  bool any_written = false;
  uint64_t events_written = 0;
  const std::vector<Refusal> none;
  size_t next = 0;  // of the groups, which are ascending too
  for (const uint32_t i : concerned) {
    const bool has_events = next < groups.size() && groups[next].shard == i;
    const std::span<const ShardEvent> events =
        has_events ? groups[next].events : std::span<const ShardEvent>();
    SlotPin* const pin = has_events && pins[next] ? &*pins[next] : nullptr;
    if (has_events) ++next;
    const auto found = sorted.refused.find(i);
    const std::vector<Refusal>& refused = found == sorted.refused.end() ? none : found->second;
    const LogPart log{batch, refused, context_.shards->count()};
    status = (*shards)[i]->Apply({collection, given, events, &log}, pin, result);
    if (!status.ok()) return FailureOf(std::move(status), any_written);
    any_written = true;
    events_written += events.size() + refused.size();
  }
  result->repeated = events_written - result->accepted - result->refused;
  return status;
}

}  // namespace seendb
