// The block filter: inserting and probing by instruction set, at 0-100% hits.

#include <cmath>

#include "filter/sizing.h"
#include "micro/micro.h"

namespace seendb::perf {
namespace {

uint64_t BlocksOf(size_t items, double bits_an_item) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(items) * bits_an_item / kBlockBits));
}

void InsertInto(benchmark::State& state, InstructionSet set, size_t items, double bits_an_item) {
  if (!Supported(set)) {
    state.SkipWithError("not supported by this processor");
    return;
  }
  const uint64_t blocks = BlocksOf(items, bits_an_item);
  Bits bits(blocks);
  const std::vector<Fingerprint> fps = RandomFingerprints(items, kSeed);
  for (auto _ : state) {
    InsertMany(set, bits.data(), blocks, fps.data(), fps.size());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, items);
}
BENCHMARK_CAPTURE(InsertInto, scalar_3300, InstructionSet::kScalar, 3300, 14);
BENCHMARK_CAPTURE(InsertInto, avx2_3300, InstructionSet::kAvx2, 3300, 14);
BENCHMARK_CAPTURE(InsertInto, avx512_3300, InstructionSet::kAvx512, 3300, 14);

/// False positives among a million items never inserted.
double MeasuredFpr(const uint8_t* bits, uint64_t blocks) {
  constexpr size_t kAbsent = 1'000'000;
  const std::vector<Fingerprint> absent = RandomFingerprints(kAbsent, kSeed + 2);
  std::vector<uint8_t> hits(kAbsent);
  ProbeMany(bits, blocks, absent.data(), kAbsent, hits.data());
  return static_cast<double>(std::count(hits.begin(), hits.end(), 1)) / kAbsent;
}

/// Probes 5,000 candidates in one filter; the argument is the percentage of hits.
void Probe(benchmark::State& state, InstructionSet set, size_t items, double bits_an_item) {
  if (!Supported(set)) {
    state.SkipWithError("not supported by this processor");
    return;
  }
  const uint64_t blocks = BlocksOf(items, bits_an_item);
  Bits bits(blocks);
  const std::vector<Fingerprint> inserted = RandomFingerprints(items, kSeed);
  InsertMany(bits.data(), blocks, inserted.data(), items);
  const std::vector<Fingerprint> candidates = Candidates(inserted, state.range(0));
  std::vector<uint8_t> hits(kCandidates);
  for (auto _ : state) {
    ProbeMany(set, bits.data(), blocks, candidates.data(), kCandidates, hits.data());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
  const double fpr = MeasuredFpr(bits.data(), blocks);
  const double real_bits = static_cast<double>(blocks * kBlockBits) / static_cast<double>(items);
  state.counters["fpr"] = fpr;
  state.counters["fpr_expected"] = ExpectedFpr(blocks, static_cast<double>(items));
  state.counters["bits_item"] = real_bits;
  state.counters["waste"] = fpr > 0 ? real_bits / std::log2(1 / fpr) - 1 : 0;
}
void HitRates(benchmark::internal::Benchmark* bench) {
  for (int hits : {0, 25, 50, 75, 100}) bench->Arg(hits);
}
// 5.7 KB, a month of a median heavy user; the same at a bucket's default budget; far beyond the
// nearest caches.
BENCHMARK_CAPTURE(Probe, scalar_3300_x14bits, InstructionSet::kScalar, 3300, 14)->Apply(HitRates);
BENCHMARK_CAPTURE(Probe, avx2_3300_x14bits, InstructionSet::kAvx2, 3300, 14)->Apply(HitRates);
BENCHMARK_CAPTURE(Probe, avx512_3300_x14bits, InstructionSet::kAvx512, 3300, 14)->Apply(HitRates);
BENCHMARK_CAPTURE(Probe, avx512_3300_x13_3bits, InstructionSet::kAvx512, 3300, 13.3)->Arg(25);
BENCHMARK_CAPTURE(Probe, scalar_130000_x14bits, InstructionSet::kScalar, 130'000, 14)->Arg(25);
BENCHMARK_CAPTURE(Probe, avx2_130000_x14bits, InstructionSet::kAvx2, 130'000, 14)->Arg(25);
BENCHMARK_CAPTURE(Probe, avx512_130000_x14bits, InstructionSet::kAvx512, 130'000, 14)->Arg(25);
BENCHMARK_CAPTURE(Probe, avx512_20M_x14bits, InstructionSet::kAvx512, 20'000'000, 14)->Arg(25);
BENCHMARK_CAPTURE(Probe, scalar_20M_x14bits, InstructionSet::kScalar, 20'000'000, 14)->Arg(25);

/// 5,000 candidates in 4 of 8,000 filters, other ones each time: the filters come from memory.
void ProbeFourCold(benchmark::State& state) {
  constexpr size_t kFilters = 8000;
  constexpr size_t kItems = 3300;
  constexpr uint64_t kBlocks = 91;
  std::vector<Bits> filters(kFilters, Bits(kBlocks));
  for (size_t f = 0; f < kFilters; ++f) {
    const auto fps = RandomFingerprints(kItems, f);
    InsertMany(filters[f].data(), kBlocks, fps.data(), kItems);
  }
  const auto candidates = RandomFingerprints(kCandidates, kSeed);
  std::vector<uint8_t> hits(kCandidates);
  size_t next = 0;
  for (auto _ : state) {
    for (int month = 0; month < 4; ++month) {
      ProbeMany(filters[next].data(), kBlocks, candidates.data(), kCandidates, hits.data());
      next = (next + 4001) % kFilters;
    }
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(ProbeFourCold);

}  // namespace
}  // namespace seendb::perf
