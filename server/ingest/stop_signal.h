// server/ingest/stop_signal.h: tells a thread to stop, also while it waits.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace seendb::ingest {

/// See the head of this file. Threads: any.
class StopSignal {
 public:
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_all();
  }
  bool stopped() const { return stopped_; }
  /// Waits; false as soon as it is stopped.
  bool Wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !wake_.wait_for(lock, time, [this] { return stopped_.load(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stopped_{false};
};

}  // namespace seendb::ingest
