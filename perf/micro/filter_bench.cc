// What the filter room costs: hashing, inserting, probing at 0-100 % hits, sizing.
//
//   build/release/perf/filter_bench [--benchmark_filter=Probe]
//
// Counters: item, the time an item (probes: a candidate); fpr, measured on items never inserted;
// bits_item; waste, bits an item over log2(1/fpr), the least any filter needs.

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include <benchmark/benchmark.h>

#include "filter/block_bloom.h"
#include "filter/hash.h"
#include "filter/probe_set.h"
#include "filter/sizing.h"
#include "seendb/id.h"
#include "seendb/policy.h"

namespace {

using seendb::Fingerprint;
using seendb::InstructionSet;

constexpr uint64_t kSeed = 20261120;
constexpr size_t kCandidates = 5000;

std::vector<Fingerprint> RandomFingerprints(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Fingerprint> fps(n);
  for (Fingerprint& fp : fps) fp = random() & seendb::kFingerprintMask;
  return fps;
}

/// Candidates of which `hit_percent` were inserted, in random order.
std::vector<Fingerprint> Candidates(const std::vector<Fingerprint>& inserted, int64_t hit_percent) {
  std::mt19937_64 random(kSeed + 1);
  std::vector<Fingerprint> candidates(kCandidates);
  const size_t hits = kCandidates * static_cast<size_t>(hit_percent) / 100;
  for (size_t i = 0; i < kCandidates; ++i) {
    candidates[i] =
        i < hits ? inserted[random() % inserted.size()] : random() & seendb::kFingerprintMask;
  }
  std::shuffle(candidates.begin(), candidates.end(), random);
  return candidates;
}

void TimeAnItem(benchmark::State& state, size_t items) {
  state.counters["item"] =
      benchmark::Counter(static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

/// Bits at an odd address, as inside a stored value.
class Bits {
 public:
  explicit Bits(uint64_t blocks) : bytes_(blocks * seendb::kBlockBytes + 1) {}
  uint8_t* data() { return bytes_.data() + 1; }

 private:
  std::vector<uint8_t> bytes_;
};

void HashText25(benchmark::State& state) {
  std::vector<std::string> texts(kCandidates);
  std::vector<seendb::IdRef> ids(kCandidates);
  for (size_t i = 0; i < kCandidates; ++i) {
    texts[i] = "video-" + std::to_string(1'000'000'000'000'000'000ULL + i * 7'919'777);
    ids[i] = seendb::IdRef(texts[i]);
  }
  std::vector<Fingerprint> out(kCandidates);
  for (auto _ : state) {
    seendb::FingerprintsOf(ids, out.data());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(HashText25);

void HashNumber(benchmark::State& state) {
  std::mt19937_64 random(kSeed);
  std::vector<seendb::IdRef> ids(kCandidates);
  for (seendb::IdRef& id : ids) id = seendb::IdRef(random());
  std::vector<Fingerprint> out(kCandidates);
  for (auto _ : state) {
    seendb::FingerprintsOf(ids, out.data());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(HashNumber);

void MakeIdFromText(benchmark::State& state, bool decimal) {
  std::vector<std::string> texts(kCandidates);
  std::mt19937_64 random(kSeed);
  for (std::string& text : texts) {
    text = decimal ? std::to_string(random() >> 30) : "video-" + std::to_string(random() >> 30);
  }
  for (auto _ : state) {
    for (const std::string& text : texts) {
      seendb::IdRef id{std::string_view(text)};
      benchmark::DoNotOptimize(id);
    }
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK_CAPTURE(MakeIdFromText, decimal, true);
BENCHMARK_CAPTURE(MakeIdFromText, text, false);

void ValidateId(benchmark::State& state) {
  const seendb::IdRef id("video-1000000000000000000");
  for (auto _ : state) benchmark::DoNotOptimize(id.Validate().ok());
  TimeAnItem(state, 1);
}
BENCHMARK(ValidateId);

void ShardOfUser(benchmark::State& state) {
  const std::string user = "user-0123456789abcdef";
  for (auto _ : state) benchmark::DoNotOptimize(seendb::ShardOf(user, 4));
  TimeAnItem(state, 1);
}
BENCHMARK(ShardOfUser);

void BucketIndex(benchmark::State& state, seendb::BucketSpec spec) {
  seendb::Policy policy;
  policy.bucket = spec;
  policy.utc_offset_minutes = 480;
  int64_t at_ms = 1'700'000'000'000;
  for (auto _ : state) {
    benchmark::DoNotOptimize(seendb::BucketIndexOf(policy, at_ms));
    at_ms += 3'599'999;
  }
  TimeAnItem(state, 1);
}
BENCHMARK_CAPTURE(BucketIndex, month, seendb::BucketSpec{});
BENCHMARK_CAPTURE(BucketIndex, days_10, seendb::BucketSpec{seendb::BucketKind::kDays, 10});

void InsertInto(benchmark::State& state, InstructionSet set, size_t items, double bits_an_item) {
  if (!seendb::Supported(set)) {
    state.SkipWithError("not supported by this processor");
    return;
  }
  const auto blocks = static_cast<uint64_t>(
      std::ceil(static_cast<double>(items) * bits_an_item / seendb::kBlockBits));
  Bits bits(blocks);
  const std::vector<Fingerprint> fps = RandomFingerprints(items, kSeed);
  for (auto _ : state) {
    seendb::InsertMany(set, bits.data(), blocks, fps.data(), fps.size());
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
  seendb::ProbeMany(bits, blocks, absent.data(), kAbsent, hits.data());
  return static_cast<double>(std::count(hits.begin(), hits.end(), 1)) / kAbsent;
}

/// Probes 5,000 candidates in one filter; the argument is the percentage of hits.
void Probe(benchmark::State& state, InstructionSet set, size_t items, double bits_an_item) {
  if (!seendb::Supported(set)) {
    state.SkipWithError("not supported by this processor");
    return;
  }
  const auto blocks = static_cast<uint64_t>(
      std::ceil(static_cast<double>(items) * bits_an_item / seendb::kBlockBits));
  Bits bits(blocks);
  const std::vector<Fingerprint> inserted = RandomFingerprints(items, kSeed);
  seendb::InsertMany(bits.data(), blocks, inserted.data(), items);
  const std::vector<Fingerprint> candidates = Candidates(inserted, state.range(0));
  std::vector<uint8_t> hits(kCandidates);
  for (auto _ : state) {
    seendb::ProbeMany(set, bits.data(), blocks, candidates.data(), kCandidates, hits.data());
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
  const double fpr = MeasuredFpr(bits.data(), blocks);
  const double real_bits =
      static_cast<double>(blocks * seendb::kBlockBits) / static_cast<double>(items);
  state.counters["fpr"] = fpr;
  state.counters["fpr_expected"] = seendb::ExpectedFpr(blocks, static_cast<double>(items));
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
    seendb::InsertMany(filters[f].data(), kBlocks, fps.data(), kItems);
  }
  const auto candidates = RandomFingerprints(kCandidates, kSeed);
  std::vector<uint8_t> hits(kCandidates);
  size_t next = 0;
  for (auto _ : state) {
    for (int month = 0; month < 4; ++month) {
      seendb::ProbeMany(filters[next].data(), kBlocks, candidates.data(), kCandidates, hits.data());
      next = (next + 4001) % kFilters;
    }
    benchmark::ClobberMemory();
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(ProbeFourCold);

std::vector<uint8_t> PackedList(std::vector<Fingerprint> fps) {
  std::sort(fps.begin(), fps.end());
  fps.erase(std::unique(fps.begin(), fps.end()), fps.end());
  std::vector<uint8_t> packed(fps.size() * seendb::kFingerprintBytes);
  for (size_t i = 0; i < fps.size(); ++i) {
    seendb::StoreFingerprint(fps[i], packed.data() + i * seendb::kFingerprintBytes);
  }
  return packed;
}

/// Probes 5,000 candidates in a list; arguments: items, percentage of hits.
void ProbeList(benchmark::State& state) {
  const auto inserted = RandomFingerprints(static_cast<size_t>(state.range(0)), kSeed);
  const std::vector<uint8_t> packed = PackedList(inserted);
  const std::vector<Fingerprint> candidates = Candidates(inserted, state.range(1));
  std::vector<uint8_t> hits(kCandidates);
  seendb::ProbeScratch scratch;
  for (auto _ : state) {
    seendb::ProbeSortedList(packed.data(), packed.size() / seendb::kFingerprintBytes,
                            candidates.data(), kCandidates, hits.data(), &scratch);
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

void ContainsSorted(benchmark::State& state) {
  const auto inserted = RandomFingerprints(4096, kSeed);
  const std::vector<uint8_t> packed = PackedList(inserted);
  const std::vector<Fingerprint> candidates = Candidates(inserted, state.range(0));
  for (auto _ : state) {
    for (const Fingerprint fp : candidates) {
      benchmark::DoNotOptimize(seendb::ContainsSorted(packed.data(), 4096, fp));
    }
  }
  TimeAnItem(state, kCandidates);
}
BENCHMARK(ContainsSorted)->Arg(0)->Arg(50)->Arg(100);

void BlocksFor(benchmark::State& state) {
  auto items = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(seendb::BlocksFor(items++, 0.0025));
}
BENCHMARK(BlocksFor)->Arg(1)->Arg(100)->Arg(4096)->Arg(130'000)->Arg(100'000'000);

void CapacityOf(benchmark::State& state) {
  auto blocks = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(seendb::CapacityOf(blocks++, 0.0025));
}
BENCHMARK(CapacityOf)->Arg(1)->Arg(91)->Arg(3500);

void ExpectedFpr(benchmark::State& state) {
  double items = 3000;
  for (auto _ : state) benchmark::DoNotOptimize(seendb::ExpectedFpr(91, items += 1e-3));
}
BENCHMARK(ExpectedFpr);

void EstimateFpr(benchmark::State& state) {
  Bits bits(91);
  const auto fps = RandomFingerprints(3300, kSeed);
  seendb::InsertMany(bits.data(), 91, fps.data(), fps.size());
  for (auto _ : state) benchmark::DoNotOptimize(seendb::EstimateFpr(bits.data(), 91));
}
BENCHMARK(EstimateFpr);

}  // namespace
