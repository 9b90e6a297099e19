// Decoding: a stored seen filter read in place (checksum and lengths), and made changeable.

#include "format/filter_codec.h"
#include "micro/micro.h"

namespace seendb::perf {
namespace {

FilterRules MonthRules() {
  FilterRules rules;
  rules.begin_ms = 0;
  rules.end_ms = int64_t{30} * 86'400'000;
  return rules;
}

std::string Encoded(size_t items, bool seal) {
  std::vector<Fingerprint> fps = RandomFingerprints(items, kSeed);
  std::sort(fps.begin(), fps.end());
  fps.erase(std::unique(fps.begin(), fps.end()), fps.end());
  SeenFilter filter;
  filter.as_of_ms = int64_t{29} * 86'400'000;
  filter.Add(fps, MonthRules());
  if (seal) filter.Seal(MonthRules());
  std::string bytes;
  EncodeFilter(filter, {}, &bytes);
  return bytes;
}

/// Argument: items.
void ParseFilterView(benchmark::State& state, bool sealed) {
  const std::string bytes = Encoded(static_cast<size_t>(state.range(0)), sealed);
  for (auto _ : state) {
    FilterView view;
    benchmark::DoNotOptimize(view.Parse(bytes));
  }
  state.counters["bytes"] = static_cast<double>(bytes.size());
}
BENCHMARK_CAPTURE(ParseFilterView, sealed, true)->Arg(30)->Arg(3'300)->Arg(24'418);
BENCHMARK_CAPTURE(ParseFilterView, open, false)->Arg(30)->Arg(3'300)->Arg(24'418);

void DecodeToChange(benchmark::State& state, bool sealed) {
  const std::string bytes = Encoded(static_cast<size_t>(state.range(0)), sealed);
  for (auto _ : state) {
    FilterView view;
    if (!view.Parse(bytes)) state.SkipWithError("damaged");
    benchmark::DoNotOptimize(view.ToFilter());
  }
}
BENCHMARK_CAPTURE(DecodeToChange, sealed, true)->Arg(3'300);
BENCHMARK_CAPTURE(DecodeToChange, open, false)->Arg(3'300);

}  // namespace
}  // namespace seendb::perf
