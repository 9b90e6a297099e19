// budget.h: how many second tries there may be, and when: one for ten calls, and ten at once.
// Without it a server that answers half of what it is asked is asked twice as much.

#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>

namespace seendb::client::internal {

/// See the head of this file. Threads: any.
class Budget {
 public:
  /// A call begins.
  void First() {
    const std::lock_guard lock(mutex_);
    left_ = std::min(kMost, left_ + kShare);
  }
  /// Whether there may be a second try, which is paid for then.
  bool Second() {
    const std::lock_guard lock(mutex_);
    if (left_ < 1) return false;
    --left_;
    return true;
  }
  /// `wait`, longer by up to a half, so that callers who were refused together don't come back
  /// together.
  std::chrono::milliseconds Jitter(std::chrono::milliseconds wait) {
    const std::lock_guard lock(mutex_);
    return wait + std::chrono::milliseconds(
                      std::uniform_int_distribution<int64_t>(0, wait.count() / 2)(random_));
  }

 private:
  static constexpr double kShare = 0.1, kMost = 10;

  std::mutex mutex_;
  double left_ = kMost;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace seendb::client::internal
