// server/router/served_queue.h: impressions that filters with `record` have recorded here, on their
// way into the log. The answer does not wait for that; where Kafka is away they are kept and tried
// again.

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

#include "base/sync.h"
#include "ops/periodic.h"
#include "router/log_writer.h"

namespace seendb::router {

/// See the head of this file. What it holds when the process ends is not in the log: an item may
/// be served again. Threads: any.
class ServedQueue {
 public:
  static constexpr size_t kBytesMost = 64u << 20;  ///< beyond, new ones are dropped
  static constexpr std::chrono::minutes kAgeMost{10};

  /// `writer` is borrowed. Tries again every `pause`.
  ServedQueue(const LogWriter* writer, std::chrono::milliseconds pause);
  /// Nothing may be under way: the replicas were stopped.
  ~ServedQueue() = default;
  ServedQueue(const ServedQueue&) = delete;
  ServedQueue& operator=(const ServedQueue&) = delete;

  /// Appends the record at this node, now or later.
  void Add(OwnedRecord record);
  /// Those that were dropped, being too many or too old.
  uint64_t dropped() const;

 private:
  struct Kept {
    OwnedRecord record;
    std::chrono::steady_clock::time_point since;
  };

  void Try(Kept kept);
  void Keep(Kept kept);
  void TryAgain();

  const LogWriter& writer_;
  mutable Mutex mutex_{LockRank::kLeaf};
  std::deque<Kept> kept_ GUARDED_BY(mutex_);
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  ops::Periodic trying_;
};

}  // namespace seendb::router
