// Recording events out of a log: as record.cc, but every shard is written, with how far the log
// was read, and leaves out what it has.

#include <algorithm>
#include <map>

#include "engine_impl.h"

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
  for (size_t i = 0; i < batch.origins.size(); ++i) {
    const Origin& origin = batch.origins[i];
    if (origin.source >= batch.sources.size() || origin.offset < 0 ||
        origin.offset >= batch.sources[origin.source].next_offset) {
      return Status::InvalidArgument("lies outside its source's step",
                                     "/origins/" + std::to_string(i));
    }
  }
  return {};
}

Status TellFirsts(const IngestBatch& batch, const Collection& collection, std::string_view day,
                  const std::vector<FirstPlays>& firsts) {
  std::vector<FirstOfDay> told;
  for (const FirstPlays& first : firsts) {
    for (const std::string_view user : first.Users()) told.push_back({user, collection.name, day});
  }
  if (told.empty() || !batch.tell_first) return {};
  return batch.tell_first(told);
}

}  // namespace

Result<IngestResult> EngineImpl::Ingest(const IngestBatch& batch) {
  Status status = CheckWritable();
  if (!status.ok()) return status;
  const Result<Collection> collection = FindCollection(batch.collection);
  if (!collection.ok()) return collection.status();
  status = CheckSteps(batch.sources);
  if (status.ok()) status = CheckOrigins(batch);
  if (status.ok()) status = CheckIds(batch.plays);
  if (status.ok() && collection->policy.history.enabled) status = CheckWatches(batch.plays);
  SortedEvents sorted;
  sorted.today = TodayOf(*collection, batch.impressions);
  if (status.ok() && sorted.today) status = CheckDays(batch.plays);
  if (!status.ok()) return status;
  std::string numbers;
  sorted.refused.resize(shard_count_);
  sorted.accepted =
      SortByShard(batch.plays, 0, TimeCheck(collection->policy, clock_->NowMs()), shard_count_,
                  &numbers, [&](uint32_t shard, uint32_t index, const Status&) {
                    sorted.refused[shard].push_back(index);
                  });
  IngestResult result;
  status = WriteSteps(batch, *collection, &sorted, &result);
  counters_.ingest_repeated.fetch_add(result.repeated, std::memory_order_relaxed);
  auto& accepted = batch.impressions ? counters_.impressions_accepted : counters_.plays_accepted;
  auto& rejected = batch.impressions ? counters_.impressions_refused : counters_.plays_refused;
  accepted.fetch_add(result.accepted, std::memory_order_relaxed);
  rejected.fetch_add(result.refused, std::memory_order_relaxed);
  if (!status.ok()) return status;
  return result;
}

// Of the events those that count now, as far as one can tell before the ring is entered.
EventsByShard EngineImpl::FreshEvents(const IngestBatch& batch, const SortedEvents& sorted) {
  EventsByShard fresh = sorted.accepted;
  for (size_t i = 0; i < shards_.size(); ++i) {
    seendb::Sources& sources = *shards_[i].sources;
    const std::lock_guard lock(sources.mutex());
    const SourceChange change(batch, &sources, false);
    std::erase_if(fresh[i], [&](const ShardEvent& event) { return change.Repeated(event.index); });
  }
  return fresh;
}

Status EngineImpl::WriteSteps(const IngestBatch& batch, const Collection& collection,
                              SortedEvents* sorted, IngestResult* result) {
  std::vector<Gate::Scope> used;
  for (Shard& shard : shards_) {
    used.emplace_back(*shard.use);
    const Status writable = shard.store->CheckWritable();
    if (!writable.ok()) return writable;
    if (shard.recovering) return Status::Busy("a shard comes back from a failure of its disk");
  }
  std::vector<FirstPlays> firsts;
  if (sorted->today) {
    firsts = ClaimFirsts(FreshEvents(batch, *sorted), collection,
                         {batch.impressions, batch.plays, &*sorted->today});
    const Status told = TellFirsts(batch, collection, sorted->today->text, firsts);
    if (!told.ok()) return told;
  }
  std::vector<Gate::Scope> inside;
  const bool staged = !batch.impressions || collection.policy.served_is_seen;
  for (size_t i = 0; i < shards_.size(); ++i) {
    inside.emplace_back(shards_[i].ring->gate());
    const Status room = staged && !sorted->accepted[i].empty() ? CheckRoom(i) : Status();
    if (!room.ok()) return room;
  }
  for (size_t i = 0; i < shards_.size(); ++i) {
    FirstPlays* const first = firsts.empty() ? nullptr : &firsts[i];
    const Status written = WriteStep(inside[i], i, batch, collection, sorted, first, result);
    if (!written.ok()) return written;
  }
  inside.clear();
  for (Shard& shard : shards_) {
    if (shard.ring->Full()) shard.ring->RotateIfDue();
  }
  return {};
}

Status EngineImpl::WriteStep(const Gate::Scope& inside, size_t shard, const IngestBatch& batch,
                             const Collection& collection, SortedEvents* sorted, FirstPlays* firsts,
                             IngestResult* result) {
  seendb::Sources& sources = *shards_[shard].sources;
  std::vector<ShardEvent>& events = sorted->accepted[shard];
  const std::vector<uint32_t>& refused = sorted->refused[shard];
  const std::lock_guard lock(sources.mutex());
  SourceChange change(batch, &sources, shard == 0);
  const size_t given = events.size() + refused.size();
  std::erase_if(events, [&](const ShardEvent& event) { return change.Repeated(event.index); });
  RecordResult recorded;
  for (const uint32_t event : refused) {
    if (change.Repeated(event)) continue;
    change.Count(event, false);
    ++recorded.refused;
  }
  if (!change.nothing_new()) {
    const Today* const today = sorted->today ? &*sorted->today : nullptr;
    const Status written = WriteShard(inside, shards_[shard], {events, &change, firsts}, collection,
                                      {batch.impressions, batch.plays, today}, &recorded);
    if (!written.ok()) return written;
    change.Commit();
  }
  result->accepted += recorded.accepted;
  result->refused += recorded.refused;
  result->repeated += given - recorded.accepted - recorded.refused;
  return {};
}

std::vector<SourceInfo> EngineImpl::Sources() {
  std::vector<SourceInfo> infos;
  if (!CheckOpen().ok()) return infos;
  struct Known {
    SourceInfo info;
    uint32_t shards = 0;
  };
  std::map<seendb::Sources::Key, Known> all;
  for (Shard& shard : shards_) {
    const Gate::Scope inside(*shard.use);
    const std::lock_guard lock(shard.sources->mutex());
    for (const auto& [key, record] : shard.sources->records()) {
      Known& known = all[key];
      std::optional<int64_t>& lowest = known.info.next_offset;
      lowest = std::min(lowest.value_or(record.next_offset), record.next_offset);
      known.info.counts += record.counts;
      ++known.shards;
    }
  }
  for (auto& [key, known] : all) {
    known.info.topic = key.first;
    known.info.partition = key.second;
    if (known.shards < shard_count_) known.info.next_offset.reset();
    infos.push_back(std::move(known.info));
  }
  return infos;
}

Status EngineImpl::ForgetTopic(std::string_view topic) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const auto named = [&](const SourceInfo& info) { return info.topic == topic; };
  const std::vector<SourceInfo> known = Sources();
  if (std::none_of(known.begin(), known.end(), named)) {
    return Status::NotFound("no offsets of topic \"" + std::string(topic) + "\"", "/topic");
  }
  for (Shard& shard : shards_) {
    const Gate::Scope inside(*shard.use);
    const Status takes = shard.store->CheckWritable();
    if (!takes.ok()) return takes;
    const std::lock_guard lock(shard.sources->mutex());
    const Status forgotten = shard.sources->Forget(shard.store.get(), topic);
    if (!forgotten.ok()) return forgotten;
  }
  return {};
}

}  // namespace seendb
