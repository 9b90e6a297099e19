#include "replica/backlog.h"

#include <algorithm>
#include <utility>

namespace seendb::replica {

bool Backlog::IsFull(uint32_t partition) const {
  const auto at = waiting_.find(partition);
  return at != waiting_.end() && at->second.full;
}

bool Backlog::Keep(const LogRecord& record, int64_t from, Time now) {
  Waiting& waiting = waiting_[record.partition];
  if (waiting.records.empty()) waiting.next_try = now + waiting.pause;
  const size_t bytes = record.key.size() + record.value.size();
  const bool fits = waiting.records.size() < kRecordsMost && waiting.bytes + bytes <= kBytesMost;
  if (!fits && !waiting.records.empty()) {
    waiting.full = true;
    waiting.records.resize(1);
    return false;
  }
  Record kept;
  kept.fields = record;
  kept.key = record.key;
  kept.value = record.value;
  if (record.header) kept.header.emplace(*record.header);
  kept.fields.key = kept.fields.value = {};
  kept.fields.header.reset();
  kept.from = from;
  waiting.bytes += bytes;
  waiting.records.push_back(std::move(kept));
  return true;
}

std::vector<uint32_t> Backlog::Due(Time now) const {
  std::vector<uint32_t> due;
  for (const auto& [partition, waiting] : waiting_) {
    if (waiting.next_try <= now) due.push_back(partition);
  }
  return due;
}

std::optional<Time> Backlog::NextTry() const {
  std::optional<Time> next;
  for (const auto& [partition, waiting] : waiting_) {
    next = std::min(next.value_or(Time::max()), waiting.next_try);
  }
  return next;
}

LogRecord Backlog::First(uint32_t partition, int64_t* from) const {
  const Record& kept = waiting_.at(partition).records.front();
  LogRecord record = kept.fields;
  record.key = kept.key;
  record.value = kept.value;
  if (kept.header) record.header = *kept.header;
  *from = kept.from;
  return record;
}

void Backlog::Applied(uint32_t partition) {
  const auto at = waiting_.find(partition);
  Waiting& waiting = at->second;
  const Record& first = waiting.records.front();
  waiting.bytes -= std::min(waiting.bytes, first.key.size() + first.value.size());
  waiting.pause = kFirstPause;
  waiting.records.pop_front();
  if (waiting.records.empty()) waiting_.erase(at);
}

Backlog::Pause Backlog::Failed(uint32_t partition, Time now) {
  Waiting& waiting = waiting_.at(partition);
  waiting.pause = std::min(waiting.pause * 2, kLongestPause);
  waiting.next_try = now + waiting.pause;
  return waiting.pause;
}

void Backlog::ForgetWhatIsReadAgain() {
  std::erase_if(waiting_, [](const auto& one) { return !one.second.full; });
}

}  // namespace seendb::replica
