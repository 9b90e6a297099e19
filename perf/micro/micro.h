// micro/micro.h: what the micro benchmarks share.
//
//   build/release/perf/micro [--benchmark_filter=Probe]
//
// Counters: item, the time an item (probes: a candidate); fpr, measured on items never inserted;
// bits_item; waste, bits an item over log2(1/fpr), the least any filter needs.

#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "filter/block_bloom.h"
#include "filter/hash.h"

namespace seendb::perf {

inline constexpr uint64_t kSeed = 20261120;
inline constexpr size_t kCandidates = 5000;

inline std::vector<Fingerprint> RandomFingerprints(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Fingerprint> fps(n);
  for (Fingerprint& fp : fps) fp = random() & kFingerprintMask;
  return fps;
}

/// Candidates of which `hit_percent` were inserted, in random order.
inline std::vector<Fingerprint> Candidates(const std::vector<Fingerprint>& inserted,
                                           int64_t hit_percent) {
  std::mt19937_64 random(kSeed + 1);
  std::vector<Fingerprint> candidates(kCandidates);
  const size_t hits = kCandidates * static_cast<size_t>(hit_percent) / 100;
  for (size_t i = 0; i < kCandidates; ++i) {
    candidates[i] = i < hits ? inserted[random() % inserted.size()] : random() & kFingerprintMask;
  }
  std::shuffle(candidates.begin(), candidates.end(), random);
  return candidates;
}

inline void TimeAnItem(benchmark::State& state, size_t items) {
  state.counters["item"] =
      benchmark::Counter(static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

/// Bits at an odd address, as inside a stored value.
class Bits {
 public:
  explicit Bits(uint64_t blocks) : bytes_(blocks * kBlockBytes + 1) {}
  uint8_t* data() { return bytes_.data() + 1; }

 private:
  std::vector<uint8_t> bytes_;
};

/// A sorted packed list.
inline std::vector<uint8_t> PackedList(std::vector<Fingerprint> fps) {
  std::sort(fps.begin(), fps.end());
  fps.erase(std::unique(fps.begin(), fps.end()), fps.end());
  std::vector<uint8_t> packed(fps.size() * kFingerprintBytes);
  for (size_t i = 0; i < fps.size(); ++i) {
    StoreFingerprint(fps[i], packed.data() + i * kFingerprintBytes);
  }
  return packed;
}

}  // namespace seendb::perf
