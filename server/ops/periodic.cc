#include "ops/periodic.h"

#include <exception>
#include <utility>

namespace seendb::ops {

void Periodic::Start(const char* name, std::chrono::milliseconds every,
                     std::function<void()> work) {
  {
    const MutexLock lock(mutex_);
    ended_ = false;
  }
  worker_.Start(name, [this, every, work = std::move(work)] { Run(every, work); });
}

bool Periodic::Stop(int64_t timeout_ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  worker_.AskToStop();
  const MutexLock lock(mutex_);
  bool in_time = true;
  while (!ended_ && in_time) in_time = changed_.WaitUntil(mutex_, until);
  return ended_;
}

void Periodic::Run(std::chrono::milliseconds every, const std::function<void()>& work) {
  while (worker_.Pause(every)) {
    try {
      work();
    } catch (const std::exception&) {
      // Out of memory, most likely: the next run may succeed.
    }
  }
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.NotifyAll();
}

}  // namespace seendb::ops
