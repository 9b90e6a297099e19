// server/ops/manual_clock.h: the time of day of a replay or a test: it stands until moved.

#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace seendb::ops {

/// A clock that only moves forward, and only by MoveTo. Threads: any.
class ManualClock final : public Clock {
 public:
  /// Stands at `now_ms`.
  explicit ManualClock(int64_t now_ms) : now_ms_(now_ms) {}
  int64_t NowMs() const override { return now_ms_.load(std::memory_order_acquire); }
  /// False, and nothing moves, when `now_ms` lies in the past.
  bool MoveTo(int64_t now_ms) noexcept {
    int64_t before = now_ms_.load(std::memory_order_acquire);
    while (before <= now_ms) {
      if (now_ms_.compare_exchange_weak(before, now_ms, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

 private:
  std::atomic<int64_t> now_ms_;
};

}  // namespace seendb::ops
