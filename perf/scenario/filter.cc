// Embedded Engine::Filter: 5,000 candidates, 4 months of 3,300 items, 20% seen, one thread, hot.
// Prints microseconds a call with the current month sealed, as a list, and with operands unmerged.

#include <cinttypes>

#include "scenario/scenario.h"

namespace seendb::perf {
namespace {

constexpr int kUsers = 50;
constexpr int kItemsPerMonth = 3'300;
constexpr int kCandidates = 5'000;
constexpr int kCalls = 4'000;

uint64_t ItemOf(int user, int month, int i) {
  return (static_cast<uint64_t>(user) << 40) | (static_cast<uint64_t>(month) << 32) |
         static_cast<uint64_t>(i);
}

void PlayMonth(Engine& engine, ManualClock& clock, int month, int64_t begin_ms, int drains) {
  for (int drain = 0; drain < drains; ++drain) {
    clock.Set(begin_ms + (drain + 1) * 27 * kDayMs / drains);
    for (int user = 0; user < kUsers; ++user) {
      std::vector<Play> plays;
      for (int i = kItemsPerMonth * drain / drains; i < kItemsPerMonth * (drain + 1) / drains;
           ++i) {
        plays.push_back(
            {IdRef(static_cast<uint64_t>(user)), IdRef(ItemOf(user, month, i)), kNowMs});
      }
      Check(engine.RecordPlays(plays).status());
    }
    Check(engine.Drain());
  }
}

void Measure(Engine& engine, const char* what) {
  Random random(7);
  std::vector<std::vector<std::string>> names(kUsers);
  std::vector<std::vector<IdRef>> ids(kUsers);
  for (int user = 0; user < kUsers; ++user) {
    for (int i = 0; i < kCandidates; ++i) {
      const bool seen = random.Next() % 5 == 0;
      const uint64_t r = random.Next();
      ids[static_cast<size_t>(user)].emplace_back(
          seen ? ItemOf(user, static_cast<int>(r % 4), static_cast<int>(r / 4 % kItemsPerMonth))
               : r | (uint64_t{1} << 63));
    }
  }
  FilterResponse answer;
  std::vector<double> us;
  uint64_t seen = 0;
  for (int call = 0; call < kCalls; ++call) {
    const auto user = static_cast<size_t>(call % kUsers);
    FilterRequest request;
    request.user = IdRef(static_cast<uint64_t>(user));
    request.items = ids[user];
    const Stopwatch watch;
    Check(engine.Filter(request, &answer));
    us.push_back(watch.Seconds() * 1e6);
    seen += answer.seen;
  }
  std::printf("| %-34s | %7.1f | %7.1f | %7.1f | %6.2f%% |\n", what, Quantile(us, 0.5),
              Quantile(us, 0.99), Quantile(us, 0),
              100.0 * static_cast<double>(seen) / (double{kCalls} * kCandidates));
}

void Run() {
  const TemporaryFolder folder;
  ManualClock clock(kStartMs);
  Options options;
  options.shards = 1;
  auto engine = OpenEngine(folder.path() + "/db", &clock, options);
  const int64_t months[] = {kStartMs, kStartMs + 30 * kDayMs, kStartMs + 61 * kDayMs,
                            kStartMs + 92 * kDayMs};
  std::printf("Filter, %d candidates, 4 months x %d items, 20%% seen, hot, one thread\n",
              kCandidates, kItemsPerMonth);
  std::printf("| %-34s | median us | p99 us | min us | seen |\n|---|---|---|---|---|\n",
              "current month");
  for (int month = 0; month < 3; ++month) {
    PlayMonth(*engine, clock, month, months[month], 4);
  }
  PlayMonth(*engine, clock, 3, months[3], 8);
  Check(engine->SealClosed());
  Measure(*engine, "8 operands, unmerged in memory");
  Check(engine->Compact());
  Measure(*engine, "a list of 3,300");
  Check(engine->Seal("default", "2026-09"));
  Measure(*engine, "sealed");
}

}  // namespace
}  // namespace seendb::perf

int main() { seendb::perf::Run(); }
