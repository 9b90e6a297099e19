// server/replica/barriers.h: ticks that requests wait for: what anybody had acknowledged before a
// request came is applied here once a tick is that was appended after it came.
//
// Threads: any. Callbacks are made without a lock.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/sync.h"
#include "replica/replicas.h"

namespace seendb::replica {

/// See the head of this file.
class Barriers {
 public:
  using Done = std::function<void(Status)>;
  using AppendTick = std::function<void(uint32_t, std::function<void(Result<Appended>)>)>;

  /// Appends a tick, and calls back once it is applied or is not to be.
  explicit Barriers(AppendTick append) : append_(std::move(append)) {}

  void Await(uint32_t partition, Time deadline, Done done);
  /// Ends what was to be there by `now`.
  void Expire(Time now);

 private:
  struct Waiter {
    Time deadline;
    Done done;
  };
  struct Line {
    bool under_way = false;
    std::vector<Waiter> now, next;  ///< those of the tick under way, and of the one behind it
  };
  void Append(uint32_t partition);
  void Ended(uint32_t partition, const Result<Appended>& tick);

  const AppendTick append_;
  Mutex mutex_{LockRank::kLeaf};
  std::map<uint32_t, Line> lines_ GUARDED_BY(mutex_);
};

}  // namespace seendb::replica
