// perf/scenario/scenario.h: what the scenarios share: a temporary database, a clock that moves by
// hand, timing, medians.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "seams.h"
#include "seendb/engine.h"

namespace seendb::perf {

inline constexpr int64_t kDayMs = 86'400'000;
/// 2026-06-01 00:00 UTC.
inline constexpr int64_t kStartMs = 1'780'272'000'000;

/// A clock moved by hand.
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
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Ends the program with a message where something that must work does not.
inline void Check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "failed: %s\n", status.ToString().c_str());
  std::exit(1);
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
  std::sort(samples.begin(), samples.end());
  const auto at = static_cast<size_t>(share * static_cast<double>(samples.size() - 1));
  return samples[at];
}

/// A small deterministic generator (splitmix64, Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E37'79B9'7F4A'7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

/// Opens an engine on `clock` without background work.
inline std::unique_ptr<Engine> OpenEngine(const std::string& path, const Clock* clock,
                                          Options options = {}) {
  options.background = false;
  Seams seams;
  seams.clock = clock;
  auto opened = Engine::Open(path, options, seams);
  Check(opened.status());
  return std::move(opened).value();
}

}  // namespace seendb::perf
