// tests/support/run_here.h: runs a task without a connection, on the thread of the caller.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/sync.h"
#include "http/wait.h"

namespace seendb::test {

/// The end of a wait, which may come later than anybody waits for it.
struct Arrived {
  Mutex mutex{LockRank::kLeaf};
  CondVar came;
  bool here GUARDED_BY(mutex) = false;
  std::shared_ptr<void> given GUARDED_BY(mutex);
};

class BlockingWaiting final : public http::Waiting {
 public:
  std::function<void(std::shared_ptr<void>)> Resume() override {
    arrived_ = std::make_shared<Arrived>();
    return [to = arrived_](std::shared_ptr<void> given) {
      const MutexLock lock(to->mutex);
      if (to->here) return;
      to->given = std::move(given);
      to->here = true;
      to->came.NotifyAll();
    };
  }
  Came Take() override { return {}; }

  Came Await(int64_t limit_us) {
    const auto began = std::chrono::steady_clock::now();
    const auto until = began + std::chrono::microseconds(limit_us);
    Arrived& arrived = *arrived_;
    const MutexLock lock(arrived.mutex);
    bool in_time = true;
    while (!arrived.here && in_time) {
      if (limit_us > 0) {
        in_time = arrived.came.WaitUntil(arrived.mutex, until);
      } else {
        arrived.came.Wait(arrived.mutex);
      }
    }
    arrived.here = true;  // what comes later is too late
    const auto waited = std::chrono::steady_clock::now() - began;
    return {std::move(arrived.given),
            1 + std::chrono::duration_cast<std::chrono::microseconds>(waited).count()};
  }

 private:
  std::shared_ptr<Arrived> arrived_ = std::make_shared<Arrived>();
};

/// Runs `task` to its end on this thread, which blocks while it waits; a turn or a worker is had at
/// once. Throws what it threw.
inline void RunHere(http::Task<> task) {
  BlockingWaiting waiting;
  http::TaskRun run(&waiting);
  run.Begin(std::move(task));
  while (run) {
    run.GoOn();
    http::Wait* const wait = run.wait();
    if (wait == nullptr || wait->what != http::Wait::For::kGiven) continue;
    wait->came = waiting.Await(wait->limit_us);
  }
}

}  // namespace seendb::test
