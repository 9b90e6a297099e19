// Candidates that come several times: found among thousands.

#include <unordered_set>

#include "micro/micro.h"
#include "query/distinct.h"

namespace seendb::perf {
namespace {

/// Candidates of which a percentage came before, and their fingerprints.
struct Request {
  Request(size_t count, int64_t repeat_percent) {
    std::mt19937_64 random(kSeed);
    for (size_t i = 0; i < count; ++i) {
      const bool repeats = i > 0 && static_cast<int64_t>(random() % 100) < repeat_percent;
      const size_t of = repeats ? random() % i : 0;
      items.push_back(repeats ? items[of] : IdRef(random()));
      fingerprints.push_back(repeats ? fingerprints[of] : random() & kFingerprintMask);
    }
  }
  std::vector<IdRef> items;
  std::vector<Fingerprint> fingerprints;
};

/// Arguments: candidates, percentage of repeats.
void FindRepeats(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const Request request(count, state.range(1));
  Distinct distinct;
  for (auto _ : state) {
    distinct.Begin(count);
    for (size_t i = 0; i < count; ++i) {
      benchmark::DoNotOptimize(distinct.IsRepeat(request.items, request.fingerprints, i));
    }
  }
  TimeAnItem(state, count);
}
BENCHMARK(FindRepeats)->ArgsProduct({{500, 2'000, 5'000, 10'000}, {0, 30}});

void FindRepeatsInASet(benchmark::State& state) {  // what it stands against
  const auto count = static_cast<size_t>(state.range(0));
  const Request request(count, state.range(1));
  for (auto _ : state) {
    std::unordered_set<Fingerprint> known(2 * count);
    for (const Fingerprint one : request.fingerprints) {
      benchmark::DoNotOptimize(known.insert(one).second);
    }
  }
  TimeAnItem(state, count);
}
BENCHMARK(FindRepeatsInASet)->ArgsProduct({{2'000, 10'000}, {0, 30}});

}  // namespace
}  // namespace seendb::perf
