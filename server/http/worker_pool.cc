#include "http/worker_pool.h"

#include <chrono>
#include <utility>

namespace seendb::http {

WorkerPool::WorkerPool(size_t threads, size_t queue) : queue_limit_(queue) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::Post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || jobs_.size() >= queue_limit_) return false;
    jobs_.push_back(std::move(job));
  }
  work_.notify_one();
  return true;
}

bool WorkerPool::Stop(int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  work_.notify_all();
  return idle_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                        [this] { return jobs_.empty() && running_ == 0; });
}

void WorkerPool::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    --running_;
    if (jobs_.empty() && running_ == 0) idle_.notify_all();
  }
}

}  // namespace seendb::http
