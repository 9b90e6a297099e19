// server/router/retry_budget.h: what second tries of requests that a node refused for its load are
// paid from (gRPC's proposal A6). Only a budget takes load away; a pause moves it.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace seendb::router {

/// 10 tokens; a second try costs one, an answer gives a tenth back; none is to be had at 5 or less.
/// Threads: any.
class RetryBudget {
 public:
  /// Whether there may be a second try; takes its token.
  bool Take() {
    int64_t tenths = tenths_.load(std::memory_order_relaxed);
    while (tenths > kLeastTenths) {
      if (tenths_.compare_exchange_weak(tenths, tenths - kTryTenths, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  /// A request was answered.
  void Answered() {
    int64_t tenths = tenths_.load(std::memory_order_relaxed);
    while (tenths < kMostTenths &&
           !tenths_.compare_exchange_weak(tenths, tenths + 1, std::memory_order_relaxed)) {
    }
  }

 private:
  static constexpr int64_t kMostTenths = 100, kLeastTenths = 50, kTryTenths = 10;
  std::atomic<int64_t> tenths_{kMostTenths};
};

}  // namespace seendb::router
