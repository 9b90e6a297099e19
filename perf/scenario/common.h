// scenario/common.h: what the benchmark's programs share: a clock moved by hand, timing, quantiles,
// a temporary folder, a generator of numbers.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "seendb/status.h"

namespace seendb::perf {

inline constexpr int64_t kHourMs = 3'600'000;
inline constexpr int64_t kDayMs = 24 * kHourMs;

/// A clock moved by hand. Threads: any.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now_ms) : now_ms_(now_ms) {}
  int64_t NowMs() const override { return now_ms_.load(std::memory_order_relaxed); }
  void Set(int64_t now_ms) { now_ms_ = now_ms; }

 private:
  std::atomic<int64_t> now_ms_;
};

/// A folder that goes away with its owner; below $SEENDB_PERF_DIR, or the temporary folder.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* base = std::getenv("SEENDB_PERF_DIR");
    path_ =
        (base != nullptr ? std::filesystem::path(base) : std::filesystem::temp_directory_path()) /
        "seendb-perf-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Ends the program with a message: what must work did not, so there is nothing to measure.
[[noreturn]] inline void Fail(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(1);
}
inline void Check(const Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

/// Seconds since construction.
class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The value below which a share of the samples lies.
inline double Quantile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  const auto at = static_cast<int64_t>(share * static_cast<double>(samples.size() - 1));
  std::nth_element(samples.begin(), samples.begin() + at, samples.end());
  return samples[static_cast<size_t>(at)];
}

/// A small deterministic generator (splitmix64, Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() { return Mix(state_ += 0x9E37'79B9'7F4A'7C15ULL); }
  /// A number below `limit`.
  uint64_t Below(uint64_t limit) { return Next() % limit; }
  /// The generator's finisher: a one-to-one mixing of 64 bits.
  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace seendb::perf
