// engine/scheduler.h: background work on threads, in lanes: each lane does one kind of work for
// every shard again and again, the one that has waited longest first. A lane's work on a shard runs
// once at a time; no lane waits for another, and within a lane a shard that takes long keeps
// another waiting only once it holds all of the lane's threads.
//
// Threads: any, for all members.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/counters.h"
#include "base/sync.h"
#include "seendb/status.h"
#include "store/problem_list.h"

namespace seendb {

/// One kind of background work.
struct Lane {
  std::string name;                 ///< as problems name it
  std::chrono::milliseconds every;  ///< from the end of one run on a shard to the next
  uint32_t shards = 1;              ///< it works on; 1 also where it is about none in particular
  uint32_t threads = 2;             ///< at most as many as shards
  std::function<Status(uint32_t shard)> work;
};

/// See the head of this file.
class Scheduler {
 public:
  /// Starts. What fails is a problem until the same work next ends.
  Scheduler(std::vector<Lane> lanes, ProblemList* problems, Counters* counters);
  /// Waits for the work under way.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

 private:
  struct Running;
  void Serve(Running* lane);
  void Note(const Running& lane, uint32_t shard, const Status& ended);

  ProblemList* const problems_;
  Counters* const counters_;
  std::vector<std::unique_ptr<Running>> lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace seendb
