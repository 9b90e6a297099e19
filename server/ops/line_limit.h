// server/ops/line_limit.h: bounds how many lines of one kind the log gets.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace seendb::ops {

/// At most so many lines in each second of the steady clock; those beyond are left out and counted.
/// Threads: any.
class LineLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit LineLimit(uint32_t per_second) : per_second_(per_second) {}
  /// True: a line may be written at `now`. `*left_out`: how many were left out since the last line
  /// that said so; it is more than 0 for the first line of a second at most.
  bool Take(Time now, uint64_t* left_out) noexcept;

  uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }
  uint64_t left_out() const noexcept { return left_out_.load(std::memory_order_relaxed); }

 private:
  const uint32_t per_second_;
  std::atomic<uint64_t> window_{0};  // a second in the high half, its lines in the low half
  std::atomic<uint64_t> written_{0}, left_out_{0}, told_{0};
};

}  // namespace seendb::ops
