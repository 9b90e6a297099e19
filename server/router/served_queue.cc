#include "router/served_queue.h"

#include <memory>
#include <utility>

namespace seendb::router {
namespace {

using Clock = std::chrono::steady_clock;

/// For one try.
constexpr std::chrono::seconds kOneTryMost{10};

}  // namespace

ServedQueue::ServedQueue(const LogWriter* writer, std::chrono::milliseconds pause)
    : writer_(*writer) {
  trying_.Start("served", pause, [this] { TryAgain(); });
}

void ServedQueue::Add(OwnedRecord record) {
  writer_.Stamp(&record);  // however late it gets into the log
  Try({std::move(record), Clock::now()});
}

uint64_t ServedQueue::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

void ServedQueue::Try(Kept kept) {
  const auto held = std::make_shared<Kept>(std::move(kept));
  writer_.AppendHere(held->record, Clock::now() + kOneTryMost,
                     [this, held](const Result<wire::Appended>& result) {
                       // Whether it got there or not: a repetition merges into the same entries.
                       if (result.status().code() == StatusCode::kUnavailable) Keep(*held);
                     });
}

void ServedQueue::Keep(Kept kept) {
  const size_t bytes = kept.record.value.size();
  const MutexLock lock(mutex_);
  if (bytes_ + bytes > kBytesMost || kept.since + kAgeMost < Clock::now()) {
    ++dropped_;
    return;
  }
  bytes_ += bytes;
  kept_.push_back(std::move(kept));
}

void ServedQueue::TryAgain() {
  std::deque<Kept> now;
  {
    const MutexLock lock(mutex_);
    now.swap(kept_);
    bytes_ = 0;
  }
  for (Kept& kept : now) Try(std::move(kept));
}

}  // namespace seendb::router
