#include "threads/worker.h"

#include <cassert>
#include <cstring>
#include <utility>

#include <pthread.h>

namespace seendb {

void Worker::Start(const char* name, std::function<void()> work) {
  assert(!thread_.joinable() && std::strlen(name) <= 15);
  thread_ = std::thread(std::move(work));
  pthread_setname_np(thread_.native_handle(), name);
}

void Worker::Stop() {
  AskToStop();
  if (thread_.joinable()) thread_.join();
}

void Worker::AskToStop() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  changed_.NotifyAll();
}

void Worker::Wake() {
  const MutexLock lock(mutex_);
  woken_ = true;
  changed_.NotifyAll();
}

bool Worker::Rest(std::optional<std::chrono::nanoseconds> most, bool may_be_woken) {
  const auto now = std::chrono::steady_clock::now();
  const MutexLock lock(mutex_);
  bool in_time = true;
  while (!stopping_ && in_time && !(may_be_woken && woken_)) {
    if (most) {
      in_time = changed_.WaitUntil(mutex_, now + *most);
    } else {
      changed_.Wait(mutex_);
    }
  }
  if (may_be_woken) woken_ = false;
  return !stopping_;
}

}  // namespace seendb
