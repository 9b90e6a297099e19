// server/transfer/throttle.h: spreads bytes over time. The caller brings the
// time and waits.

#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdint>

namespace seendb::transfer {

/// At most `bytes_per_s` in any span of time, and one piece more. What was not used before is not
/// made up for. Threads: one at a time.
class Throttle {
 public:
  /// Precondition: bytes_per_s > 0.
  explicit Throttle(uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) { assert(bytes_per_s > 0); }

  /// When `bytes`, asked for at `now_us`, may go: now or later. They count from then on.
  int64_t Take(uint64_t bytes, int64_t now_us) {
    const int64_t at_us = std::max(now_us, free_at_us_);
    const uint64_t takes_us = (bytes * 1'000'000 + bytes_per_s_ - 1) / bytes_per_s_;
    free_at_us_ = at_us + static_cast<int64_t>(takes_us);
    return at_us;
  }

 private:
  const uint64_t bytes_per_s_;
  int64_t free_at_us_ = 0;
};

/// The time to bring where it is the machine's.
inline int64_t NowUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace seendb::transfer
