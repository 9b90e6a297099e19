// server/cluster/deadline.h: how much is left of a time that several steps share.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace seendb::cluster {

/// See the head of this file. Threads: any.
class Deadline {
 public:
  /// So long from now on.
  explicit Deadline(int timeout_ms)
      : at_(std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms)) {}
  /// 0: it is over.
  int LeftMs() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        at_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<int64_t>(0, left.count()));
  }

 private:
  const std::chrono::steady_clock::time_point at_;
};

}  // namespace seendb::cluster
