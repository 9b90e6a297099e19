// server/api/one_at_a_time.h: requests of which one is worked on at a time, and the others wait
// without holding a worker.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>

#include "base/sync.h"
#include "http/message.h"
#include "http/reply.h"

namespace seendb::api {

struct Call;

/// Runs jobs in the order in which they came. Threads: any. Must outlive the Listener.
class OneAtATime {
 public:
  /// Makes the answer of a request; copies what it needs of it.
  using Job = std::function<void(http::Response*)>;

  /// At most `limit` requests wait.
  explicit OneAtATime(size_t limit) : limit_(limit) {}
  /// Where no job runs, runs `job` on this thread. Otherwise returns at once, and `job` runs on a
  /// worker of kSlow when its turn has come; 503 where too many wait.
  void Run(Call& call, Job job);

 private:
  struct Waiter {
    http::Reply reply;
    Job job;
  };
  /// Ends a turn when it is destroyed.
  class Turn {
   public:
    explicit Turn(OneAtATime* of) : of_(*of) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { of_.RunNext(); }

   private:
    OneAtATime& of_;
  };

  void RunNext() noexcept;
  bool TakeNext(Waiter* next);

  const size_t limit_;
  Mutex mutex_{LockRank::kLeaf};
  bool running_ GUARDED_BY(mutex_) = false;
  std::deque<Waiter> waiting_ GUARDED_BY(mutex_);
};

}  // namespace seendb::api
