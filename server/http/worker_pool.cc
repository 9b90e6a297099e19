#include "http/worker_pool.h"

#include <cassert>
#include <chrono>
#include <utility>

namespace seendb::http {

using admission::Verdict;
using SteadyClock = std::chrono::steady_clock;

WorkerPool::WorkerPool(size_t threads, size_t queue, admission::Lane* lane)
    : queue_limit_(queue), lane_(lane) {
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

Verdict WorkerPool::Head(Entry* entry, admission::Time now) {
  const MutexLock lock(mutex_);
  return lane_ == nullptr ? Verdict() : lane_->Head(&entry->entry, now);
}

std::optional<Verdict> WorkerPool::Enter(Entry* entry, admission::Time came, admission::Time now,
                                         std::function<void(const Verdict&)> job) {
  assert(job != nullptr);
  Verdict verdict;
  {
    const MutexLock lock(mutex_);
    const size_t waiting = lane_ == nullptr ? jobs_.size() : lane_->size();
    if (stopping_ || waiting >= queue_limit_) {
      if (lane_ != nullptr) lane_->Remove(&entry->entry);
      return std::nullopt;
    }
    if (lane_ == nullptr) {
      jobs_.push_back([job = std::move(job)] { job(Verdict()); });
    } else {
      verdict = lane_->Complete(&entry->entry, came, now);
      if (verdict.admitted()) entry->job = std::move(job);
    }
  }
  if (verdict.admitted()) work_.NotifyOne();
  return verdict;
}

void WorkerPool::Done(Entry* entry, admission::Duration took) {
  const MutexLock lock(mutex_);
  if (lane_ != nullptr) lane_->Done(&entry->entry, took, SteadyClock::now());
}

void WorkerPool::Leave(Entry* entry) {
  const MutexLock lock(mutex_);
  if (lane_ != nullptr) lane_->Remove(&entry->entry);
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
  const auto end = SteadyClock::now() + std::chrono::milliseconds(timeout_ms);
  const MutexLock lock(mutex_);
  stopping_ = true;
  work_.NotifyAll();
  bool in_time = true;
  while (in_time && (HasWork() || running_ != 0)) in_time = idle_.WaitUntil(mutex_, end);
  return !HasWork() && running_ == 0;
}

std::function<void()> WorkerPool::Take() {
  const MutexLock lock(mutex_);
  while (true) {
    while (!stopping_ && !HasWork()) work_.Wait(mutex_);
    if (!jobs_.empty()) {
      std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      ++running_;
      return job;
    }
    if (!HasWork()) return nullptr;
    const admission::Lane::Turn turn = lane_->Take(SteadyClock::now());
    if (turn.entry == nullptr) continue;
    ++running_;
    auto* const entry = static_cast<Entry*>(turn.entry->owner);
    return [job = std::exchange(entry->job, nullptr), verdict = turn.verdict] { job(verdict); };
  }
}

void WorkerPool::Ran() {
  const MutexLock lock(mutex_);
  --running_;
  if (!HasWork() && running_ == 0) idle_.NotifyAll();
}

void WorkerPool::Run() {
  while (std::function<void()> job = Take()) {
    job();
    job = nullptr;  // ended with what it owns before it counts as run
    Ran();
  }
}

}  // namespace seendb::http
