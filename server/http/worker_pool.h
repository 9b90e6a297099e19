// server/http/worker_pool.h: a few threads for work that must not stall an I/O thread.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/sync.h"

namespace seendb::http {

/// Runs jobs in order of arrival. Threads: Post from any thread.
class WorkerPool {
 public:
  /// `threads` threads; at most `queue` jobs wait.
  WorkerPool(size_t threads, size_t queue);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  /// Stops; blocks until the jobs taken have run.
  ~WorkerPool();

  /// False, and `job` is not taken, when too many wait or the pool has stopped. A job must not
  /// throw.
  bool Post(std::function<void()> job);
  /// Takes no more jobs; true when all taken have run within `timeout_ms`.
  bool Stop(int64_t timeout_ms);

 private:
  void Run();
  /// The next job; empty once the pool has stopped and all have run.
  std::function<void()> Take();
  void Ran();

  const size_t queue_limit_;
  Mutex mutex_{LockRank::kLeaf};
  CondVar work_, idle_;
  std::deque<std::function<void()>> jobs_ GUARDED_BY(mutex_);
  size_t running_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace seendb::http
