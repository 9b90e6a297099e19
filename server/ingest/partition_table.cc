#include "ingest/partition_table.h"

#include <algorithm>

namespace seendb::ingest {
namespace {

int64_t SecondOf(Rate::Clock::time_point now) {
  return std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
}

}  // namespace

void Rate::Add(uint64_t count, Clock::time_point now) {
  const int64_t second = SecondOf(now);
  Second& slot = seconds_[static_cast<size_t>(second % (kSeconds + 1))];
  if (slot.second != second) slot = {second, 0};
  slot.count += count;
}

double Rate::PerSecond(Clock::time_point now) const {
  const int64_t second = SecondOf(now);
  uint64_t sum = 0;
  for (const Second& slot : seconds_) {
    if (slot.second < second && slot.second >= second - kSeconds) sum += slot.count;
  }
  return static_cast<double>(sum) / static_cast<double>(kSeconds);
}

const SourceInfo* FindSource(const std::vector<SourceInfo>& sources, const std::string& topic,
                             int32_t partition) {
  for (const SourceInfo& one : sources) {
    if (one.topic == topic && static_cast<int32_t>(one.partition) == partition) return &one;
  }
  return nullptr;
}

std::vector<SourceInfo> SourcesOf(Engine* engine, bool by_shard) {
  std::vector<SourceInfo> sources = engine->Sources();
  for (SourceInfo& one : sources) {
    if (!by_shard) break;
    one.next_offset = one.next_of_shard;
    one.last = one.last_of_shard;
  }
  return sources;
}

// The newest message of a partition is known if it is the one before the offset.
Result<std::vector<SourceInfo>> SourcesOf(const ItemSink& items) {
  Result<std::vector<ItemSource>> notes = items.sources();
  if (!notes.ok()) return notes.status();
  std::vector<SourceInfo> sources;
  for (ItemSource& note : *notes) {
    SourceInfo& one = sources.emplace_back();
    one.topic = std::move(note.topic);
    one.partition = static_cast<uint32_t>(note.partition);
    one.next_offset = note.next_offset;
    if (note.last_time_ms < 0 || note.next_offset == 0) continue;
    one.last = SourceMark{note.next_offset - 1, note.last_time_ms};
  }
  return sources;
}

PartitionTable::PartitionTable(const ops::KafkaConfig& config) : config_(config) {}

void PartitionTable::Appear(const std::string& topic, int32_t partition) {
  const MutexLock lock(mutex_);
  rows_[{topic, partition}].shown.partition = partition;
}

void PartitionTable::SetHeld(const std::string& topic, int32_t partition, std::string reason) {
  const MutexLock lock(mutex_);
  Row& row = rows_[{topic, partition}];
  row.shown.held = std::move(reason);
  row.unread.clear();
}

void PartitionTable::SetUnread(const std::string& topic, int32_t partition, std::string why,
                               Rate::Clock::time_point now) {
  const MutexLock lock(mutex_);
  Row& row = rows_[{topic, partition}];
  row.unread = std::move(why);
  row.unread_at = now;
}

bool PartitionTable::Raise(const std::string& topic, int32_t partition, const std::string& alarm) {
  const MutexLock lock(mutex_);
  std::vector<std::string>& alarms = rows_[{topic, partition}].shown.alarms;
  if (std::find(alarms.begin(), alarms.end(), alarm) != alarms.end()) return false;
  alarms.push_back(alarm);
  return true;
}

void PartitionTable::AddLost(const std::string& topic, int32_t partition, int64_t messages) {
  const MutexLock lock(mutex_);
  rows_[{topic, partition}].shown.lost += static_cast<uint64_t>(messages);
}

void PartitionTable::AddMessages(const std::string& topic, int32_t partition, uint64_t messages) {
  const MutexLock lock(mutex_);
  Row& row = rows_[{topic, partition}];
  row.shown.messages += messages;
  row.rate.Add(messages, Rate::Clock::now());
}

void PartitionTable::AddMisrouted(const std::string& topic, int32_t partition, uint64_t messages) {
  if (messages == 0) return;
  const MutexLock lock(mutex_);
  rows_[{topic, partition}].shown.misrouted += messages;
}

void PartitionTable::AddDeadLetters(const std::string& topic, int32_t partition,
                                    uint64_t messages) {
  if (messages == 0) return;
  const MutexLock lock(mutex_);
  rows_[{topic, partition}].shown.dead_letters += messages;
}

void PartitionTable::SetBegun(std::set<uint32_t> partitions) {
  const MutexLock lock(mutex_);
  begun_ = std::move(partitions);
}

// Of a log of which nothing is applied as yet, and something is there, the age is not known.
std::map<uint32_t, int64_t> PartitionTable::BehindMs(const std::vector<SourceInfo>& sources,
                                                     int64_t now_ms) const {
  const MutexLock lock(mutex_);
  std::map<uint32_t, int64_t> behind_ms;
  for (const uint32_t partition : begun_) {
    int64_t& most_ms = behind_ms[partition];
    for (const ops::KafkaTopic& topic : config_.topics) {
      const auto row = rows_.find({topic.topic, static_cast<int32_t>(partition)});
      if (row == rows_.end()) continue;
      const ops::IngestPartition& shown = row->second.shown;
      const SourceInfo* const source = FindSource(sources, topic.topic, shown.partition);
      const std::optional<int64_t> next = source == nullptr ? std::nullopt : source->next_offset;
      const bool at_end = shown.high_watermark && next.value_or(0) >= *shown.high_watermark;
      if (at_end && shown.held.empty()) continue;
      if (source != nullptr && source->last) {
        most_ms = std::max(most_ms, now_ms - source->last->time_ms);
      } else if (shown.held.empty() && shown.high_watermark) {
        most_ms = std::max(most_ms, now_ms);
      }
    }
  }
  return behind_ms;
}

std::vector<std::string> PartitionTable::HeldReasons() const {
  const MutexLock lock(mutex_);
  std::set<std::string> reasons;
  for (const auto& [key, row] : rows_) {
    if (row.shown.held.empty()) continue;
    reasons.insert("topic " + key.first + " is not consumed: " + row.shown.held);
  }
  return {reasons.begin(), reasons.end()};
}

std::vector<std::string> PartitionTable::UnreadReasons(Rate::Clock::time_point now) const {
  const MutexLock lock(mutex_);
  std::vector<std::string> reasons;
  for (const auto& [key, row] : rows_) {
    if (row.unread.empty() || now - row.unread_at >= kUnreadFor) continue;
    reasons.push_back("topic " + key.first + " can't be read, partition " +
                      std::to_string(key.second) + ": " + row.unread);
  }
  return reasons;
}

void PartitionTable::AddRefused(const std::string& topic, const RecordResult& result) {
  if (result.refused == 0) return;
  const MutexLock lock(mutex_);
  auto& counts = refused_by_[topic];
  for (size_t i = 0; i < kRefusalReasons; ++i) counts[i] += result.refused_by[i];
}

void PartitionTable::SetHighWatermark(const std::string& topic, int32_t partition, int64_t offset) {
  const MutexLock lock(mutex_);
  rows_[{topic, partition}].shown.high_watermark = offset;
}

bool PartitionTable::IsAtEnd(const std::string& topic, int32_t partition,
                             int64_t next_offset) const {
  const MutexLock lock(mutex_);
  const auto row = rows_.find({topic, partition});
  if (row == rows_.end()) return false;
  const std::optional<int64_t>& high = row->second.shown.high_watermark;
  return high && next_offset >= *high;
}

void PartitionTable::CountError() {
  const MutexLock lock(mutex_);
  ++errors_;
}

void PartitionTable::CountPutOff() {
  const MutexLock lock(mutex_);
  ++put_off_;
}

ops::IngestState PartitionTable::Snapshot(const std::vector<SourceInfo>& sources) const {
  ops::IngestState state;
  state.configured = true;
  const auto now = Rate::Clock::now();
  const MutexLock lock(mutex_);
  state.errors = errors_;
  state.put_off = put_off_;
  for (const ops::KafkaTopic& topic : config_.topics) {
    ops::IngestTopic shown{topic.topic, topic.collection, {}};
    const auto refused = refused_by_.find(topic.topic);
    if (refused != refused_by_.end()) shown.refused_by = refused->second;
    const auto from = rows_.lower_bound({topic.topic, 0});
    for (auto at = from; at != rows_.end() && at->first.first == topic.topic; ++at) {
      ops::IngestPartition one = at->second.shown;
      one.rate = at->second.rate.PerSecond(now);
      if (const SourceInfo* source = FindSource(sources, topic.topic, one.partition)) {
        one.applied_offset = source->next_offset;
        one.dead_letters += source->counts.dead_letters;
      }
      shown.partitions.push_back(std::move(one));
    }
    state.topics.push_back(std::move(shown));
  }
  return state;
}

}  // namespace seendb::ingest
