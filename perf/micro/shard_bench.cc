// The bookkeeping of a call, by the number of shards that a database has.

#include <optional>
#include <string>
#include <vector>

#include "micro/micro.h"
#include "shard/events.h"

namespace seendb::perf {
namespace {

/// range(0) plays, each of a user of its own, in a database of range(1) shards.
void SortPlaysByShard(benchmark::State& state) {
  const auto plays = static_cast<size_t>(state.range(0));
  const auto shards = static_cast<uint32_t>(state.range(1));
  std::vector<std::string> users(plays);
  std::vector<Play> given(plays);
  for (size_t i = 0; i < plays; ++i) {
    users[i] = "user-" + std::to_string(i * 7'919);
    given[i].user = IdRef(users[i]);
    given[i].item = IdRef(uint64_t{i});
  }
  const Policy policy;
  const ItemHash hash(ItemHashId{.version = 2, .key = {kSeed, kSeed}});
  TimeCheck times(policy, 1'773'144'000'000);
  for (auto _ : state) {
    std::string numbers;
    const EventsByShard by_shard = SortByShard(
        std::span<const Play>(given), 0, [&](size_t) -> TimeCheck& { return times; }, shards, hash,
        &numbers, [](uint32_t, uint32_t, const Status&, RefusalReason) {});
    size_t events = 0;
    for (const ShardGroup& group : by_shard.groups()) events += group.events.size();
    benchmark::DoNotOptimize(events);
  }
  TimeAnItem(state, plays);
}
BENCHMARK(SortPlaysByShard)
    ->Args({1, 4})
    ->Args({1, 64})
    ->Args({1, 1'024})
    ->Args({20, 4})
    ->Args({20, 1'024})
    ->Args({5'000, 4})
    ->Args({5'000, 1'024});

}  // namespace
}  // namespace seendb::perf
