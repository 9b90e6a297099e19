// The part of Session that decides where its partitions begin, and whether to decide that again.

#include <algorithm>
#include <iterator>

#include "ingest/session.h"
#include "ops/log.h"

namespace seendb::ingest {
namespace {

// Shorter timeout once other partitions are read, so that one that gets no answer does not delay
// them.
constexpr int kAskAgainMs = 300;
constexpr int kUnansweredMost = 3;

}  // namespace

Result<std::vector<SourceInfo>> Session::Sources() const {
  return items_ == nullptr ? SourcesOf(engine_, shards_ != nullptr) : SourcesOf(*items_);
}

bool Session::Owns(int32_t partition) const {
  if (shards_ != nullptr) return readable_.contains(static_cast<uint32_t>(partition));
  const auto& owned = config_.partitions;
  return !owned || std::binary_search(owned->begin(), owned->end(), partition);
}

Status Session::FindPartitions(Reader* reader) {
  Result<std::vector<int32_t>> found = PartitionsOf(handle_.get(), reader->topic.topic, kAskMs);
  if (!found.ok()) return found.status();
  reader->partitions.clear();
  std::copy_if(found->begin(), found->end(), std::back_inserter(reader->partitions),
               [this](int32_t partition) { return Owns(partition); });
  reader->policy = PolicyOf(reader->topic.collection);
  if (reader->policy) {
    reader->batch.SetZoneOfCollection(
        times::TimeZone::Fixed(int64_t{reader->policy->utc_offset_minutes} * 60'000));
  }
  reader->unfit.clear();
  if (shards_ != nullptr && !found->empty()) {
    const Status shape = CheckShape(reader->topic.topic, found->size(), shards_->partitions);
    reader->unfit = shape.message();
    reader->unfit_alarm = "wrong_shape";
  }
  if (items_ != nullptr) LookAtItems(reader);
  if (found->empty() && late_topics_->insert(reader->topic.topic).second) {
    ops::Log(ops::LogLevel::kWarn, "ingest_topic_absent", {{"topic", reader->topic.topic}});
  }
  return Status::Ok();
}

Result<StartPoint> Session::Choose(const Reader& reader, int32_t partition,
                                   const std::vector<SourceInfo>& sources, int ask_ms) {
  const std::string& topic = reader.topic.topic;
  StartPoint point;
  if (!reader.unfit.empty()) {
    point.alarm = reader.unfit_alarm;
    point.held = reader.unfit;
    return point;
  }
  if (!reader.policy && items_ == nullptr) {
    point.alarm = "no_collection";
    point.held = "there is no collection " + reader.topic.collection;
    return point;
  }
  const auto watermarks = Watermarks(handle_.get(), topic, partition, ask_ms);
  if (!watermarks.ok()) return watermarks.status();
  PartitionFacts facts;
  facts.low = watermarks->first;
  facts.high = watermarks->second;
  table_->SetHighWatermark(topic, partition, facts.high);
  if (const SourceInfo* known = FindSource(sources, topic, partition)) {
    facts.known = true;
    facts.stored = known->next_offset;
    facts.last = known->last;
    facts.held = known->held;
  }
  facts.replicated = shards_ != nullptr;
  facts.repeatable = items_ != nullptr;
  // All replicas of a partition must begin at the same place, whatever other partitions a node has.
  const bool alike = facts.replicated && config_.start != ops::KafkaStart::kRefuse;
  facts.topic_known =
      !alike && (late_topics_->contains(topic) ||
                 std::any_of(sources.begin(), sources.end(),
                             [&](const SourceInfo& one) { return one.topic == topic; }));
  point = ChooseStart(facts, config_.start);
  if (!point.wanted_start) return point;
  const Result<int64_t> at = OffsetAt(handle_.get(), topic, partition, config_.start_ms, ask_ms);
  if (!at.ok()) return at.status();
  point.offset = *at < 0 ? facts.high : *at;
  return point;
}

// The decision is stored at once: the first message may be a long time in coming.
Status Session::BeginPartition(Reader* reader, int32_t partition,
                               const std::vector<SourceInfo>& sources) {
  const std::string& topic = reader->topic.topic;
  table_->Appear(topic, partition);
  const Result<StartPoint> point = Choose(*reader, partition, sources, kAskMs);
  if (!point.ok()) {
    held_ = true;
    table_->SetHeld(topic, partition, "the broker does not answer: " + point.status().ToString());
    return Status::Ok();
  }
  table_->SetHeld(topic, partition, point->held);
  if (!point->alarm.empty()) {
    const std::string text = point->alarm == kBeyondEnd
                                 ? "the topic was made anew, and is read from its beginning"
                                 : std::to_string(point->lost) + " messages are gone";
    Alarm(*reader, partition, point->alarm, point->held.empty() ? text : point->held);
  }
  if (point->offset && point->lost > 0) table_->AddLost(topic, partition, point->lost);
  const SourceInfo* known = FindSource(sources, topic, partition);
  if (!point->offset) {
    held_ = true;
    const bool note = point->alarm == kBeyondEnd && !known->held;
    if (note) reader->batch.Hold(partition, *known->next_offset);
    return Status::Ok();
  }
  reader->next[partition] = *point->offset;
  if (point->check) reader->checks[partition] = *point->check;
  if (items_ != nullptr && point->check) reader->current_ms[partition] = point->check->time_ms;
  if (known == nullptr || known->next_offset != point->offset) {
    reader->batch.Step(partition, *point->offset);
  } else {
    reader->applied[partition] = *point->offset;
  }
  return Status::Ok();
}

// The consumer may still deliver messages of the partition; the session ends right after this.
void Session::Hold(Reader* reader, int32_t partition, int64_t stored) {
  if (items_ != nullptr) return ReadAnew(reader, partition);
  const std::string why = "the log is not the one that was read up to the stored offset " +
                          std::to_string(stored) + ": its message before that has another time";
  reader->batch.Hold(partition, stored);
  reader->next.erase(partition);
  reader->applied.erase(partition);
  table_->SetHeld(reader->topic.topic, partition, why);
  Alarm(*reader, partition, kBeyondEnd, why);
  held_ = true;
  changed_ = true;
}

std::optional<Policy> Session::PolicyOf(const std::string& collection) const {
  for (CollectionInfo& one : engine_->Collections()) {
    if (one.name == collection) return std::move(one.policy);
  }
  return {};
}

// Whether some shard has less of a partition than was applied here: it lost a part of its log.
bool Session::Forgot(const Reader& reader, const std::vector<SourceInfo>& sources) {
  for (const auto& [partition, applied] : reader.applied) {
    const SourceInfo* const known = FindSource(sources, reader.topic.topic, partition);
    if (known != nullptr && known->next_offset && *known->next_offset >= applied) continue;
    ops::Log(ops::LogLevel::kWarn, "ingest_read_again",
             {{"error", "a shard lost how far it was read"},
              {"topic", reader.topic.topic},
              {"partition", partition}});
    return true;
  }
  return false;
}

bool Session::AnythingChanged() {
  const Result<std::vector<SourceInfo>> known = Sources();
  if (!known.ok()) return true;
  const std::vector<SourceInfo>& sources = *known;
  int unanswered = 0;
  away_ = false;
  for (const auto& reader : readers_) {
    if (Forgot(*reader, sources)) return true;
    const std::vector<int32_t> before = reader->partitions;
    const std::string unfit_before = reader->unfit;
    if (!FindPartitions(reader.get()).ok()) {
      reader->partitions = before;
      away_ = true;
      continue;
    }
    if (reader->unfit != unfit_before) return true;
    for (const int32_t partition : reader->partitions) {
      if (!std::binary_search(before.begin(), before.end(), partition)) return true;
      if (reader->next.contains(partition) || unanswered == kUnansweredMost) continue;
      const Result<StartPoint> point = Choose(*reader, partition, sources, kAskAgainMs);
      if (point.ok() && point->offset) return true;
      if (!point.ok()) ++unanswered;
    }
  }
  return false;
}

}  // namespace seendb::ingest
