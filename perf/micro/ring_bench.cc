// The ring's staging map: taking a play, and looking a user up, among 100,000 users of 10 plays.

#include <string>

#include "micro/micro.h"
#include "ring/staging.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kUsers = 100'000;
constexpr uint64_t kPlays = 10;

std::vector<std::string> Users() {
  std::vector<std::string> users;
  for (uint64_t i = 0; i < kUsers; ++i) users.push_back("user-" + std::to_string(i));
  return users;
}

void Fill(Staging* staging, const std::vector<std::string>& users) {
  const auto items = RandomFingerprints(kUsers * kPlays, kSeed);
  for (size_t i = 0; i < items.size(); ++i) staging->Add(0, {users[i % kUsers], 24'310, items[i]});
}

void StagePlays(benchmark::State& state) {
  const auto users = Users();
  for (auto _ : state) {
    Staging staging;
    Fill(&staging, users);
    benchmark::DoNotOptimize(staging.plays());
  }
  TimeAnItem(state, kUsers * kPlays);
}
BENCHMARK(StagePlays)->Unit(benchmark::kMillisecond);

/// Present users in random order (argument 1), or absent ones (0).
void LookUpUser(benchmark::State& state) {
  const auto users = Users();
  Staging staging;
  Fill(&staging, users);
  std::mt19937_64 random(kSeed);
  std::vector<Fingerprint> found;
  BucketSpan buckets;
  std::string absent = "nobody-000000";
  uint64_t number = 0;
  for (auto _ : state) {
    found.clear();
    if (state.range(0) != 0) {
      staging.Collect(0, users[random() % kUsers], 0, &found, &buckets);
    } else {
      absent.resize(7);
      absent += std::to_string(number++);
      staging.Collect(0, absent, 0, &found, &buckets);
    }
    benchmark::DoNotOptimize(found.data());
  }
}
BENCHMARK(LookUpUser)->Arg(0)->Arg(1);

}  // namespace
}  // namespace seendb::perf
