// server/admission/wait_histogram.h: how long requests waited, counted by bounds.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace seendb::admission {

/// A histogram of waits. Threads: any. Cost of Add: two relaxed atomic additions.
class WaitHistogram {
 public:
  /// Upper bounds in seconds; longer waits are counted behind the last one.
  static constexpr std::array<double, 12> kBounds = {50e-6, 100e-6, 250e-6, 1e-3, 2.5e-3, 10e-3,
                                                     25e-3, 0.1,    0.25,   1,    2.5,    10};

  /// Counts one wait.
  void Add(std::chrono::nanoseconds waited) noexcept {
    const double seconds = std::chrono::duration<double>(waited).count();
    const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
    counts_[static_cast<size_t>(bound - kBounds.begin())].fetch_add(1, std::memory_order_relaxed);
    total_ns_.fetch_add(static_cast<uint64_t>(std::max<int64_t>(0, waited.count())),
                        std::memory_order_relaxed);
  }

  /// A copy to read.
  struct Snapshot {
    std::array<uint64_t, kBounds.size() + 1> counts{};  ///< by bound; not cumulative
    uint64_t total_ns = 0;
  };
  /// The counts of now.
  Snapshot Read() const noexcept {
    Snapshot snapshot;
    for (size_t i = 0; i < counts_.size(); ++i) {
      snapshot.counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    snapshot.total_ns = total_ns_.load(std::memory_order_relaxed);
    return snapshot;
  }

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<uint64_t> total_ns_{0};
};

}  // namespace seendb::admission
