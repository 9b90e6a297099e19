#include "admission/rate.h"

#include <algorithm>

namespace seendb::admission {
namespace {

/// What may be had at once, as time at the rate.
constexpr int64_t kBurstNs = 1'000'000'000;
/// The most that is owed, likewise.
constexpr int64_t kMostDebtNs = 900'000'000'000;

int64_t NsOf(Time now) { return Duration(now.time_since_epoch()).count(); }

}  // namespace

void Rate::Set(double per_s) {
  unit_ns_.store(per_s > 0 ? 1e9 / per_s : 0, std::memory_order_relaxed);
}

bool Rate::Take(Time now, Duration* wait) {
  const auto step = static_cast<int64_t>(unit_ns_.load(std::memory_order_relaxed));
  if (step == 0) return true;
  const int64_t now_ns = NsOf(now);
  const int64_t burst = std::max(kBurstNs, step);
  int64_t due = due_ns_.load(std::memory_order_relaxed);
  int64_t next = 0;
  do {
    next = std::max(due, now_ns) + step;
    if (next - now_ns > burst) {
      *wait = Duration(next - now_ns - burst);
      return false;
    }
  } while (!due_ns_.compare_exchange_weak(due, next, std::memory_order_relaxed));
  return true;
}

bool Rate::Ready(Time now, Duration* wait) const {
  if (unit_ns_.load(std::memory_order_relaxed) == 0) return true;
  const int64_t owed_ns = due_ns_.load(std::memory_order_relaxed) - NsOf(now);
  if (owed_ns <= kBurstNs) return true;
  *wait = Duration(owed_ns - kBurstNs);
  return false;
}

void Rate::Charge(double units, Time now) {
  const double unit_ns = unit_ns_.load(std::memory_order_relaxed);
  if (unit_ns == 0 || !(units > 0)) return;
  const int64_t now_ns = NsOf(now);
  const double most = static_cast<double>(kMostDebtNs);
  const auto more = static_cast<int64_t>(std::min(units * unit_ns, most));
  int64_t due = due_ns_.load(std::memory_order_relaxed);
  int64_t next = 0;
  do {
    next = std::max(due, std::min(std::max(due, now_ns) + more, now_ns + kMostDebtNs));
  } while (!due_ns_.compare_exchange_weak(due, next, std::memory_order_relaxed));
}

}  // namespace seendb::admission
