// server/api/unsafe_integers.h: ids of requests that came as JSON numbers beyond 2^53.
//
// JavaScript, and much that reads JSON elsewhere, keeps numbers as doubles: beyond 2^53 - 1 it
// sends another integer than the one it means, without a word. A play of one id and a question
// about its neighbour would then be about two items. Such ids are sent as text.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/sync.h"
#include "seendb/status.h"
#include "wire/json_read.h"

namespace seendb::api {

/// Counts them, and warns of them in the log once a minute. Threads: any, once `refuses` is set.
class UnsafeIntegers final : public wire::NumberWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kPause{1};

  bool refuses = false;  ///< the setting unsafe_integers is "refuse". Set before serving

  /// Counts so many.
  void Note(uint64_t count) override;
  /// Refuses them where `refuses` is set.
  Status Judge() const override;
  /// The same at `now`; true where a line is due, with `*since` of them since the last line.
  bool Count(uint64_t count, Time now, uint64_t* since);
  /// All since the start.
  uint64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> total_{0};
  Mutex mutex_{LockRank::kLeaf};
  uint64_t untold_ GUARDED_BY(mutex_) = 0;
  Time next_ GUARDED_BY(mutex_){};
};

}  // namespace seendb::api
