#include "ingest/topic_batch.h"

#include <algorithm>

namespace seendb::ingest {
namespace {

std::string ReasonOf(const Status& status) {
  std::string reason(status.message());
  if (!status.field().empty()) reason.append(" at ").append(status.field());
  return reason;
}

}  // namespace

TopicBatch::Progress& TopicBatch::Of(int32_t partition) {
  const auto [at, fresh] = partitions_.try_emplace(partition);
  if (fresh) at->second.source = static_cast<uint32_t>(partitions_.size() - 1);
  return at->second;
}

void TopicBatch::Add(const Message& message) {
  Progress& progress = Of(message.partition);
  progress.next_offset = message.offset + 1;
  ++progress.messages;
  Status status = decoder_.Decode(message.payload, message.at_ms, &arena_, &events_, &watches_);
  if (status.ok()) {
    origins_.resize(events_.size(), {progress.source, message.offset});
    return;
  }
  progress.dead_letters.push_back(message.offset);
  dead_letters_.push_back({message.partition, message.offset, ReasonOf(status),
                           std::string(message.key), std::string(message.payload)});
}

void TopicBatch::Step(int32_t partition, int64_t next_offset) {
  Progress& progress = Of(partition);
  progress.next_offset = std::max(progress.next_offset, next_offset);
}

IngestBatch TopicBatch::View() {
  steps_.resize(partitions_.size());
  for (const auto& [partition, progress] : partitions_) {
    steps_[progress.source] = {topic_.topic, static_cast<uint32_t>(partition), progress.next_offset,
                               progress.dead_letters};
  }
  return {topic_.collection, topic_.impressions, steps_, events_, origins_};
}

void TopicBatch::Clear() {
  events_.clear();
  watches_.clear();
  origins_.clear();
  partitions_.clear();
  dead_letters_.clear();
  arena_.Clear();
}

}  // namespace seendb::ingest
