#include "ops/line_limit.h"

namespace seendb::ops {

bool LineLimit::Take(Time now, uint64_t* left_out) noexcept {
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  const auto second = static_cast<uint64_t>(since.count());
  *left_out = 0;
  uint64_t seen = window_.load(std::memory_order_relaxed);
  bool same = false;
  uint64_t next = 0;
  do {
    same = second <= seen >> 32;  // a thread may be late with its `now`
    if (same && static_cast<uint32_t>(seen) >= per_second_) {
      left_out_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    next = same ? seen + 1 : second << 32 | 1;
  } while (!window_.compare_exchange_weak(seen, next, std::memory_order_relaxed));
  written_.fetch_add(1, std::memory_order_relaxed);
  if (same) return true;
  const uint64_t all = left_out_.load(std::memory_order_relaxed);
  const uint64_t told = told_.exchange(all, std::memory_order_relaxed);
  *left_out = all > told ? all - told : 0;
  return true;
}

}  // namespace seendb::ops
