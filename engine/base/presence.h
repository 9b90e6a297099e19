// base/presence.h: counts who is inside something that is closed some day. Entering never waits;
// whoever has closed it waits until the last has left.
//
//   writer:  if (Presence::Inside inside = slot.TryEnter()) Write();
//   drain:   slot.Close();
//            if (slot.WaitUntilEmpty(deadline)) Drain();
//
// Threads are spread over counters, each in a cache line of its own, so that those who enter at
// once don't wait for each other's lines either.

#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/sync.h"

namespace seendb {

/// See the head of this file. Must outlive those inside. Threads: any.
/// Cost: two atomic additions per stay, without contention up to kCounters threads.
class Presence {
 public:
  /// One stay; false where nobody was let in. Ends with this object, on any thread.
  class Inside {
   public:
    Inside() = default;
    Inside(Inside&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), counter_(other.counter_) {}
    Inside& operator=(Inside&&) = delete;
    ~Inside() {
      if (of_ != nullptr) of_->Leave(counter_);
    }
    explicit operator bool() const { return of_ != nullptr; }

   private:
    friend class Presence;
    Inside(Presence* of, uint32_t counter) : of_(of), counter_(counter) {}
    Presence* of_ = nullptr;
    uint32_t counter_ = 0;
  };

  Presence() = default;
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  /// False once it has been closed.
  Inside TryEnter() {
    const uint32_t counter = CounterOfThread();
    // One total order of this and of Close: either sees the other.
    counters_[counter].inside.fetch_add(1);
    if (!closed_.load()) return {this, counter};
    Leave(counter);
    return {};
  }
  /// Lets nobody in from now on. Those inside stay as long as they like.
  void Close() { closed_.store(true); }
  /// Whether all have left by the deadline. Precondition: it has been closed.
  bool WaitUntilEmpty(std::chrono::steady_clock::time_point deadline) {
    assert(closed_.load());
    const MutexLock lock(mutex_);
    while (!IsEmpty()) {
      if (!left_.WaitUntil(mutex_, deadline)) return IsEmpty();
    }
    return true;
  }

 private:
  static constexpr uint32_t kCounters = 16;
  struct alignas(64) Counter {
    std::atomic<uint64_t> inside{0};
  };

  static uint32_t CounterOfThread() {
    static std::atomic<uint32_t> threads{0};
    thread_local const uint32_t mine = threads++ % kCounters;
    return mine;
  }
  // Nobody enters any more: a counter that was once 0 has nobody left who was let in.
  bool IsEmpty() const {
    for (const Counter& one : counters_) {
      if (one.inside.load() != 0) return false;
    }
    return true;
  }
  void Leave(uint32_t counter) {
    [[maybe_unused]] const uint64_t before = counters_[counter].inside.fetch_sub(1);
    assert(before > 0);
    if (!closed_.load()) return;
    const MutexLock lock(mutex_);  // whoever waits has not looked yet, or is woken
    left_.NotifyAll();
  }

  std::array<Counter, kCounters> counters_;
  std::atomic<bool> closed_{false};
  Mutex mutex_{LockRank::kInner};
  CondVar left_;
};

}  // namespace seendb
