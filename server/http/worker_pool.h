// server/http/worker_pool.h: a few threads for work that must not stall an I/O thread.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "admission/lane.h"
#include "base/sync.h"

namespace seendb::http {

/// Runs requests in the order of a lane, and jobs in order of arrival: a job is the rest of a
/// request that was taken, and goes first. Threads: any.
class WorkerPool {
 public:
  /// A request on its way through the pool's lane. Owned by its connection.
  struct Entry {
    Entry() { entry.owner = this; }
    admission::Entry entry;  ///< its ticket is set before Head, or before Enter without Head
    std::function<void(const admission::Verdict&)> job = nullptr;  ///< of the pool
  };

  /// `threads` threads; at most `queue` jobs wait, and at most `queue` requests. `lane`, borrowed,
  /// is the pool's alone; null: no request is refused but for their number.
  WorkerPool(size_t threads, size_t queue, admission::Lane* lane = nullptr);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  /// Stops; blocks until the jobs taken have run.
  ~WorkerPool();

  /// Lane::Head.
  admission::Verdict Head(Entry* entry, admission::Time now);
  /// Lane::Complete: unless it is refused at once, `job` is called with the verdict of Lane::Take,
  /// on a worker. It must not throw, and calls Done where it was admitted. Nothing, and `job` is
  /// not taken, where too many wait or the pool has stopped; then the entry is out.
  std::optional<admission::Verdict> Enter(Entry* entry, admission::Time came, admission::Time now,
                                          std::function<void(const admission::Verdict&)> job);
  /// Lane::Done.
  void Done(Entry* entry, admission::Duration took);
  /// Lane::Remove of one that has not entered.
  void Leave(Entry* entry);

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
  bool HasWork() const REQUIRES(mutex_) {
    return !jobs_.empty() || (lane_ != nullptr && !lane_->empty());
  }

  const size_t queue_limit_;
  Mutex mutex_{LockRank::kLeaf};
  CondVar work_, idle_;
  admission::Lane* const lane_ PT_GUARDED_BY(mutex_);
  std::deque<std::function<void()>> jobs_ GUARDED_BY(mutex_);
  size_t running_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace seendb::http
