// Reading history, hot, one client: the first page of 20 and a look-up of 100 items, half of them
// watched, of users with 100 and 10,000 entries over 75 days, drained hour by hour and compacted.

#include "scenario/all.h"
#include "scenario/common.h"
#include "scenario/world.h"
#include "seams.h"
#include "seendb/engine.h"

namespace seendb::perf {
namespace {

constexpr int64_t kDays = 75;
constexpr size_t kLookedUp = 100;

struct Kind {
  uint64_t entries, users, first_user;
};

/// Each day's entries of each user.
void Load(Engine* engine, ManualClock* clock, const std::vector<Kind>& kinds) {
  const Watch watch{60, 120, "tv", R"({"quality":"1080p"})"};
  for (int64_t day = 0; day < kDays; ++day) {
    clock->Set(kStartMs + (day + 1) * kDayMs);
    std::vector<Play> plays;
    for (const Kind& kind : kinds) {
      const uint64_t begin = kind.entries * static_cast<uint64_t>(day) / kDays;
      const uint64_t end = kind.entries * static_cast<uint64_t>(day + 1) / kDays;
      for (uint64_t user = 0; user < kind.users; ++user) {
        for (uint64_t n = begin; n < end; ++n) {
          const int64_t at_ms =
              kStartMs + day * kDayMs + static_cast<int64_t>(n - begin) * 60'000 + 1;
          plays.push_back({IdRef(kind.first_user + user), IdRef(ItemOf(user, n)), at_ms, &watch});
        }
      }
    }
    Check(engine->RecordPlays(plays).status());
    Check(engine->Drain());
  }
  Check(engine->SealClosed());
  Check(engine->Compact());
}

template <typename Ask>
void Measure(const Kind& kind, const Settings& settings, const std::string& metric, const Ask& ask,
             Report* report) {
  const double seconds = settings.quick ? 0.2 : 1.0;
  for (uint64_t user = 0; user < kind.users; ++user) ask(kind.first_user + user, user);
  for (int round = 0; round < settings.rounds; ++round) {
    std::vector<double> us;
    const Stopwatch all;
    for (uint64_t i = 0; all.Seconds() < seconds; ++i) {
      const uint64_t user = i % kind.users;
      const Stopwatch one;
      ask(kind.first_user + user, user);
      us.push_back(one.Seconds() * 1e6);
    }
    const Case where = {{"entries", Number(static_cast<double>(kind.entries))}};
    report->Add({"timeline", where, "seendb", metric + "_us"}, Quantile(us, 0.5));
    report->Add({"timeline", where, "seendb", metric + "_p99_us"}, Quantile(us, 0.99));
  }
}

}  // namespace

void RunTimeline(const Settings& settings, Report* report) {
  const std::vector<Kind> kinds = {{100, settings.quick ? 100u : 2'000u, 0},
                                   {10'000, settings.quick ? 5u : 50u, 1'000'000}};
  const TemporaryFolder folder;
  ManualClock clock(kStartMs);
  Options options;
  options.background = false;
  auto opened = Engine::Open(folder.path() + "/db", options, Seams{&clock, nullptr});
  Check(opened.status());
  Engine& engine = **opened;
  PolicyPatch patch;
  patch.history.enabled = true;
  Check(engine.PutCollection("default", patch));
  Load(&engine, &clock, kinds);
  for (const Kind& kind : kinds) {
    const auto page = [&](uint64_t user, uint64_t) {
      HistoryPage answer;
      Check(engine.ReadHistory({.user = IdRef(user), .limit = 20}, &answer));
      if (answer.entries.size() != 20 || answer.degraded) Fail("a page of fewer than 20 entries");
    };
    Measure(kind, settings, "page", page, report);
    const auto look_up = [&](uint64_t user, uint64_t number) {
      std::vector<IdRef> items;
      for (uint64_t i = 0; i < kLookedUp / 2; ++i) {
        items.push_back(IdRef(ItemOf(number, i * kind.entries / (kLookedUp / 2))));
        items.push_back(IdRef(UnplayedItem(number, i)));
      }
      HistoryLookup answer;
      Check(engine.LookupHistory(IdRef(user), "default", items, &answer));
      size_t known = 0;
      for (const auto& entry : answer.entries) known += entry ? 1 : 0;
      if (known != kLookedUp / 2) Fail("a look-up that found " + std::to_string(known));
    };
    Measure(kind, settings, "look_up", look_up, report);
  }
}

}  // namespace seendb::perf
