// server/ingest/stop_signal.h: tells a thread to stop, also while it waits.

#pragma once

#include <atomic>
#include <chrono>

#include "base/sync.h"

namespace seendb::ingest {

/// See the head of this file. Threads: any.
class StopSignal {
 public:
  void Stop() {
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
    }
    wake_.NotifyAll();
  }
  bool stopped() const { return stopped_; }
  /// Waits; false as soon as it is stopped.
  bool Wait(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    const MutexLock lock(mutex_);
    while (!stopped_ && wake_.WaitUntil(mutex_, end)) continue;
    return !stopped_;
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  CondVar wake_;
  std::atomic<bool> stopped_{false};
};

}  // namespace seendb::ingest
