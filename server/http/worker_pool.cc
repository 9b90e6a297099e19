#include "http/worker_pool.h"

#include <cassert>
#include <chrono>
#include <utility>

namespace seendb::http {

WorkerPool::WorkerPool(size_t threads, size_t queue) : queue_limit_(queue) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::Post(std::function<void()> job) {
  assert(job != nullptr);
  {
    const MutexLock lock(mutex_);
    if (stopping_ || jobs_.size() >= queue_limit_) return false;
    jobs_.push_back(std::move(job));
  }
  work_.NotifyOne();
  return true;
}

bool WorkerPool::Stop(int64_t timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  const MutexLock lock(mutex_);
  stopping_ = true;
  work_.NotifyAll();
  bool in_time = true;
  while (in_time && (!jobs_.empty() || running_ != 0)) in_time = idle_.WaitUntil(mutex_, end);
  return jobs_.empty() && running_ == 0;
}

std::function<void()> WorkerPool::Take() {
  const MutexLock lock(mutex_);
  while (!stopping_ && jobs_.empty()) work_.Wait(mutex_);
  if (jobs_.empty()) return nullptr;
  std::function<void()> job = std::move(jobs_.front());
  jobs_.pop_front();
  ++running_;
  return job;
}

void WorkerPool::Ran() {
  const MutexLock lock(mutex_);
  --running_;
  if (jobs_.empty() && running_ == 0) idle_.NotifyAll();
}

void WorkerPool::Run() {
  while (std::function<void()> job = Take()) {
    job();
    job = nullptr;  // ended with what it owns before it counts as run
    Ran();
  }
}

}  // namespace seendb::http
