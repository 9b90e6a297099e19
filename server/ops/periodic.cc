#include "ops/periodic.h"

#include <cassert>
#include <exception>
#include <utility>

namespace seendb::ops {

Periodic::~Periodic() {
  Stop(0);
  if (thread_.joinable()) thread_.join();
}

void Periodic::Start(std::chrono::milliseconds every, std::function<void()> work) {
  assert(!thread_.joinable());
  {
    const MutexLock lock(mutex_);
    ended_ = false;
  }
  thread_ = std::thread([this, every, work = std::move(work)] { Run(every, work); });
}

bool Periodic::Stop(int64_t timeout_ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  const MutexLock lock(mutex_);
  stopping_ = true;
  wake_.NotifyAll();
  bool in_time = true;
  while (!ended_ && in_time) in_time = wake_.WaitUntil(mutex_, until);
  return ended_;
}

bool Periodic::Wait(std::chrono::milliseconds every) {
  const auto until = std::chrono::steady_clock::now() + every;
  const MutexLock lock(mutex_);
  while (!stopping_ && wake_.WaitUntil(mutex_, until)) continue;
  return !stopping_;
}

void Periodic::Run(std::chrono::milliseconds every, const std::function<void()>& work) {
  while (Wait(every)) {
    try {
      work();
    } catch (const std::exception&) {
      // Out of memory, most likely: the next run may succeed.
    }
  }
  const MutexLock lock(mutex_);
  ended_ = true;
  wake_.NotifyAll();
}

}  // namespace seendb::ops
