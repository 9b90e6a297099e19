// Packed lists: thousands of candidates at once, and one after the other.

#include <unordered_set>

#include "filter/probe_set.h"
#include "micro/micro.h"

namespace seendb::perf {
namespace {

/// Probes 5,000 candidates in a list; arguments: items, percentage of hits.
void ProbeList(benchmark::State& state) {
  const auto inserted = RandomFingerprints(static_cast<size_t>(state.range(0)), kSeed);
  const std::vector<uint8_t> packed = PackedList(inserted);
  const std::vector<Fingerprint> candidates = Candidates(inserted, state.range(1));
  std::vector<uint8_t> hits(kCandidates);
  ProbeScratch scratch;
  for (auto _ : state) {
    ProbeSortedList(packed.data(), packed.size() / kFingerprintBytes, candidates.data(),
                    kCandidates, hits.data(), &scratch);
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(ProbeList)->ArgsProduct({{10, 100, 1000, 4096, 65'000}, {0, 25, 50, 75, 100}});

void ProbeHashSet(benchmark::State& state) {  // what a list probe stands against
  const auto inserted = RandomFingerprints(static_cast<size_t>(state.range(0)), kSeed);
  const std::vector<Fingerprint> candidates = Candidates(inserted, state.range(1));
  std::vector<uint8_t> hits(kCandidates);
  for (auto _ : state) {
    const std::unordered_set<Fingerprint> set(inserted.begin(), inserted.end());
    for (size_t i = 0; i < kCandidates; ++i) hits[i] = set.count(candidates[i]) != 0 ? 1 : 0;
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(ProbeHashSet)->ArgsProduct({{4096}, {25}});

void SearchSorted(benchmark::State& state) {
  const auto inserted = RandomFingerprints(4096, kSeed);
  const std::vector<uint8_t> packed = PackedList(inserted);
  const std::vector<Fingerprint> candidates = Candidates(inserted, state.range(0));
  for (auto _ : state) {
    for (const Fingerprint fp : candidates) {
      benchmark::DoNotOptimize(ContainsSorted(packed.data(), 4096, fp));
    }
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(SearchSorted)->Arg(0)->Arg(50)->Arg(100);

}  // namespace
}  // namespace seendb::perf
