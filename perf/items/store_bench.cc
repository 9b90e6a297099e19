// The item store: memory, look-ups, updates with readers beside them, the opening. Peers:
// peers_bench.cc, which reads the same items in the same way.
//
//   SEENDB_ITEMS=5000000 build/release/perf/items_bench

#include <atomic>
#include <chrono>
#include <thread>

#include <benchmark/benchmark.h>

#include "items/stored.h"

namespace seendb::perf {
namespace {

constexpr size_t kAsked = 1000;  // ids per call
const std::vector<std::string> kFiveFields = {"r1", "r2", "n1", "n2", "t1"};

std::vector<std::string> RandomIds(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> ids(count);
  for (std::string& id : ids) id = IdOf(random() % ItemCount());
  return ids;
}

std::vector<IdRef> RefsOf(const std::vector<std::string>& ids) {
  std::vector<IdRef> refs;
  for (const std::string& id : ids) refs.emplace_back(id);
  return refs;
}

/// Reads five fields of each; gives how many there were, so that nothing is left out.
size_t ReadFive(const ItemStore& store, std::span<const IdRef> ids) {
  size_t values = 0;
  const Status status = store.Visit(ids, kFiveFields, [&](size_t, const ItemView& item) {
    for (size_t i = 0; i < kFiveFields.size(); ++i) values += item.Field(i).has_value() ? 1 : 0;
  });
  if (!status.ok()) std::abort();
  return values;
}

void Memory(benchmark::State& state) {
  FilledStore& filled = FilledStore::Get();
  for (auto _ : state) {
    const ItemStoreStats stats = filled.store().Stats();
    const auto per_item = [](uint64_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(ItemCount());
    };
    state.counters["record_bytes"] = per_item(stats.record_bytes);
    state.counters["store_bytes"] = per_item(stats.memory_bytes);
    state.counters["resident_bytes"] = per_item(filled.resident_bytes());
    state.counters["over_data"] = per_item(stats.memory_bytes) / ShapedItem::kBytes;
  }
}
BENCHMARK(Memory)->Iterations(1);

/// Random ids of all items (argument 0), or a hot thousand.
void LookUpFive(benchmark::State& state) {
  FilledStore& filled = FilledStore::Get();
  const auto ids = RandomIds(state.range(0) == 0 ? 100 * kAsked : kAsked, 7);
  const std::vector<IdRef> refs = RefsOf(ids);
  size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ReadFive(filled.store(), std::span(refs).subspan(at, kAsked)));
    at = (at + kAsked) % refs.size();
  }
  state.SetItemsProcessed(static_cast<int64_t>(kAsked) * state.iterations());
}
BENCHMARK(LookUpFive)->ArgName("hot")->Arg(0)->Arg(1);

/// Updates of two fields, a thousand per call, in the order in which they come.
void UpdateTwo(benchmark::State& state) {
  FilledStore& filled = FilledStore::Get();
  static uint64_t version = 1;
  std::mt19937_64 random(11);
  for (auto _ : state) {
    state.PauseTiming();
    ++version;
    const auto ids = RandomIds(kAsked, random());
    std::vector<ItemUpdate> updates;
    for (const std::string& id : ids) {
      ItemUpdate& update = updates.emplace_back();
      update.id = IdRef(id);
      update.version = version;
      update.set = {{"r1", static_cast<float>(version)}, {"n2", static_cast<int64_t>(version)}};
    }
    state.ResumeTiming();
    if (!filled.store().Apply(updates).ok()) std::abort();
  }
  state.SetItemsProcessed(static_cast<int64_t>(kAsked) * state.iterations());
}
BENCHMARK(UpdateTwo)->Unit(benchmark::kMillisecond);

/// One thread reads a hundred items per call for two seconds, alone (argument 0) or beside one that
/// updates as fast as it can: the 99th percentile of a call.
void ReadBesideUpdates(benchmark::State& state) {
  FilledStore& filled = FilledStore::Get();
  const auto ids = RandomIds(100 * kAsked, 13);
  const std::vector<IdRef> refs = RefsOf(ids);
  static uint64_t version = 1'000'000;
  for (auto _ : state) {
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> updated{0};
    std::thread writer;
    if (state.range(0) != 0) {
      writer = std::thread([&] {
        std::mt19937_64 random(17);
        while (!stop) {
          const auto some = RandomIds(kAsked, random());
          std::vector<ItemUpdate> updates(some.size());
          ++version;
          for (size_t i = 0; i < some.size(); ++i) {
            updates[i].id = IdRef(some[i]);
            updates[i].version = version;
            updates[i].set = {{"r1", 1.0F}, {"n2", static_cast<int64_t>(version)}};
          }
          if (!filled.store().Apply(updates).ok()) std::abort();
          updated += some.size();
        }
      });
    }
    std::vector<double> micros;
    const auto begin = std::chrono::steady_clock::now();
    size_t at = 0;
    for (auto now = begin; now - begin < std::chrono::seconds(2);) {
      benchmark::DoNotOptimize(ReadFive(filled.store(), std::span(refs).subspan(at, 100)));
      at = (at + 100) % refs.size();
      const auto next = std::chrono::steady_clock::now();
      micros.push_back(std::chrono::duration<double, std::micro>(next - now).count());
      now = next;
    }
    stop = true;
    if (writer.joinable()) writer.join();
    std::nth_element(micros.begin(),
                     micros.begin() + static_cast<ptrdiff_t>(micros.size() * 99 / 100),
                     micros.end());
    state.counters["p99_us"] = micros[micros.size() * 99 / 100];
    state.counters["updates_per_s"] = static_cast<double>(updated.load()) / 2;
  }
}
BENCHMARK(ReadBesideUpdates)->ArgName("updates")->Arg(0)->Arg(1)->Iterations(1);

/// Runs last: it opens the store anew.
void Opening(benchmark::State& state) {
  FilledStore& filled = FilledStore::Get();
  for (auto _ : state) filled.Open();
  state.counters["load_ms"] = static_cast<double>(filled.store().Stats().load_ms);
}
BENCHMARK(Opening)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace seendb::perf
