// Users' records: what a write's look-ups cost, and what 3 million records take in memory.

#include <memory>
#include <string>

#include "micro/micro.h"
#include "shard/user_lookup.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kUsers = 3'000'000;
constexpr size_t kBatch = 10;

std::string User(uint64_t i) { return "user-" + std::to_string(1'000'000 + i); }

Result<UserRecordPtr> ErasedRecord(std::string_view, bool) {
  return std::make_shared<const UserRecord>(UserRecord{.erased_seq = 1, .erased_at_ms = 1});
}

/// The directory has 3 million users; a write is of 10. Argument 1: per cent of the users of writes
/// that have a record. Argument 2: MB of the cache; 1,024 hold all records, 8 few of them. A miss
/// costs what the cache adds, since the database answers at once here.
void LookUpWrite(benchmark::State& state) {
  Counters counters;
  UserLookup users(ErasedRecord, static_cast<uint64_t>(state.range(1)) << 20, &counters);
  std::vector<uint64_t> recorded(kUsers);
  for (uint64_t i = 0; i < kUsers; ++i) recorded[i] = KeyedHash(User(i));
  users.Enter(recorded);
  std::mt19937_64 random(kSeed);
  std::vector<std::string> names(100'000);
  for (std::string& name : names) {
    const bool has = random() % 100 < static_cast<uint64_t>(state.range(0));
    name = User(random() % kUsers + (has ? 0 : kUsers));
  }
  if (state.range(1) == 1'024) {
    for (const std::string& name : names) benchmark::DoNotOptimize(users.Find(name));
  }
  size_t at = 0;
  for (auto _ : state) {
    const auto batch = [&](const auto& visit) {
      for (size_t i = 0; i < kBatch; ++i) visit(std::string_view(names[(at + i) % names.size()]));
    };
    LoadedRecords known(&users);
    benchmark::DoNotOptimize(known.Load(batch, RecordTier::kDisk).ok());
    benchmark::DoNotOptimize(known.Refresh(batch, RecordTier::kMemory).ok());
    batch([&](std::string_view user) { benchmark::DoNotOptimize(known.Find(user)); });
    at = (at + kBatch) % names.size();
  }
  TimeAnItem(state, kBatch);
}
BENCHMARK(LookUpWrite)
    ->Args({0, 8})
    ->Args({1, 8})
    ->Args({100, 8})
    ->Args({1, 1'024})
    ->Args({100, 1'024});

/// Bytes per record: of the directory for all, of the cache for those in it.
void KeepRecords(benchmark::State& state) {
  Counters counters;
  for (auto _ : state) {
    UserLookup users(ErasedRecord, uint64_t{1} << 40, &counters);
    std::vector<uint64_t> recorded(kUsers);
    for (uint64_t i = 0; i < kUsers; ++i) recorded[i] = KeyedHash(User(i));
    users.Enter(recorded);
    for (uint64_t i = 0; i < kUsers; ++i) benchmark::DoNotOptimize(users.Find(User(i)));
    const auto per_user = [](uint64_t bytes) { return static_cast<double>(bytes) / kUsers; };
    state.counters["directory_bytes"] = per_user(users.directory_bytes());
    state.counters["cache_bytes"] = per_user(users.cache_bytes());
  }
  TimeAnItem(state, kUsers);
}
BENCHMARK(KeepRecords)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace seendb::perf
