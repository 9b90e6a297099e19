// Sizing, and what a filter's bits tell.

#include "filter/sizing.h"
#include "micro/micro.h"

namespace seendb::perf {
namespace {

void TimeBlocksFor(benchmark::State& state) {
  auto items = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(BlocksFor(items++, 0.0025));
}
BENCHMARK(TimeBlocksFor)->Arg(1)->Arg(100)->Arg(4096)->Arg(130'000)->Arg(100'000'000);

void TimeCapacityOf(benchmark::State& state) {
  auto blocks = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(CapacityOf(blocks++, 0.0025));
}
BENCHMARK(TimeCapacityOf)->Arg(1)->Arg(91)->Arg(3500);

void TimeExpectedFpr(benchmark::State& state) {
  double items = 3000;
  for (auto _ : state) benchmark::DoNotOptimize(ExpectedFpr(91, items += 1e-3));
}
BENCHMARK(TimeExpectedFpr);

void TimeEstimateFpr(benchmark::State& state) {
  Bits bits(91);
  const auto fps = RandomFingerprints(3300, kSeed);
  InsertMany(bits.data(), 91, fps.data(), fps.size());
  for (auto _ : state) benchmark::DoNotOptimize(EstimateFpr(bits.data(), 91));
}
BENCHMARK(TimeEstimateFpr);

}  // namespace
}  // namespace seendb::perf
