// common/threads/worker.h: a thread that does one kind of work until it is told to end, and rests
// in between.
//
//   class Writer {
//    public:
//     Writer() { worker_.Start("writer", [this] { Run(); }); }
//     void Add(Line line) {
//       { const MutexLock lock(mutex_); lines_.push_back(std::move(line)); }
//       worker_.Wake();
//     }
//
//    private:
//     void Run() { while (worker_.Wait()) WriteAll(); }
//     ...
//     Worker worker_;  // the last member: it ends before what it uses
//   };

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "base/sync.h"

namespace seendb {

/// See the head of this file. Threads: Start and Stop from one at a time, all else from any.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Stops.
  ~Worker() { Stop(); }

  /// Runs `work` on a thread of its own. Called once. `name`: at most 15 bytes; `top -H` shows it.
  void Start(const char* name, std::function<void()> work);
  /// Asks it to end, and waits until `work` has returned. Without a Start, or again, it does
  /// nothing.
  void Stop();

  /// Asks it to end, and does not wait: stopping() holds from now on, and no rest lasts.
  void AskToStop();
  bool stopping() const { return stopping_; }
  /// Ends its Wait; one that comes while it works ends the next.
  void Wake();

  // The work's rests. False: it is to end.

  /// Until it is woken.
  bool Wait() { return Rest({}, true); }
  /// Until it is woken, but not longer than that.
  bool WaitFor(std::chrono::nanoseconds most) { return Rest(most, true); }
  /// For so long, whoever wakes it.
  bool Pause(std::chrono::nanoseconds time) { return Rest(time, false); }

 private:
  bool Rest(std::optional<std::chrono::nanoseconds> most, bool may_be_woken);

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_;
  bool woken_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> stopping_{false};  // changed under the mutex
  std::thread thread_;
};

}  // namespace seendb
