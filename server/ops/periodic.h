// server/ops/periodic.h: work of the server itself that is done every so often, on a thread of its
// own.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "base/sync.h"
#include "threads/worker.h"

namespace seendb::ops {

/// Runs a function again and again. Threads: Start and Stop from one.
class Periodic {
 public:
  Periodic() = default;
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;
  /// Stops; waits for a run that is under way.
  ~Periodic() = default;

  /// Runs `work` for the first time after `every`, and again each time `every` has passed since a
  /// run ended. Called once. `name`: of the thread, at most 15 bytes.
  void Start(const char* name, std::chrono::milliseconds every, std::function<void()> work);
  /// No run begins any more; false where one is still under way after `timeout_ms`.
  bool Stop(int64_t timeout_ms);

 private:
  void Run(std::chrono::milliseconds every, const std::function<void()>& work);

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_;
  bool ended_ GUARDED_BY(mutex_) = true;
  Worker worker_;
};

}  // namespace seendb::ops
