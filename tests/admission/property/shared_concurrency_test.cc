// What several threads share: a tenant's rate, the level of degradation, the settings, and the
// gauges of lanes that others read.

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "admission/admission.h"

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SharedConcurrencyTest, ThreadsTogetherAskNoMoreThanTheRate) {
  Tenants tenants;
  Tenant* const tenant = tenants.Named("a", {.requests_per_s = 1'000}, 1);
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2'000; ++i) {
        Duration wait{0};
        if (tenant->Admit(Time(seconds(5)), &wait) == Reason::kNone) ++taken;
        tenant->AddWork(milliseconds(1), Time(seconds(5)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 1'000);
  EXPECT_EQ(tenant->work(), seconds(8));
}

TEST(SharedConcurrencyTest, LanesRunBesideOrdersSettingsAndScrapes) {
  Admission admission;
  std::vector<Lane*> lanes;
  for (const char* name : {"io0", "io1"}) lanes.push_back(admission.AddLane({.name = name}));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (Lane* const lane : lanes) {
    threads.emplace_back([&admission, lane] {
      Time now(seconds(1));
      Entry entries[4];
      for (int i = 0; i < 5'000; ++i) {
        Entry& entry = entries[i % 4];
        lane->Remove(&entry);
        if (lane->Head(&entry, now).admitted()) lane->Complete(&entry, now, now);
        const Lane::Turn turn = lane->Take(now);
        now += milliseconds(1);
        if (turn.entry != nullptr && turn.verdict.admitted()) {
          static_cast<void>(admission.degrade().For(turn.entry->ticket.priority));
          lane->Done(turn.entry, milliseconds(1), now);
        }
      }
      for (Entry& entry : entries) lane->Remove(&entry);
    });
  }
  std::thread other([&] {
    Time now(seconds(1));
    for (int i = 0; !done; ++i) {
      now += milliseconds(100);
      Settings settings;
      settings.target_ms = 5 + i % 5;
      admission.Set(settings);
      admission.degrade().ByHand({.level = i % 6, .refuse = {}, .length = seconds(1)}, now);
      admission.Tick(now);
      EXPECT_GE(admission.Load(true, now), 0);
      EXPECT_LE(admission.degrade().level(), kMaxLevel);
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  other.join();
  for (const Lane* lane : lanes) {
    const LaneCounters& counters = lane->counters();
    EXPECT_GT(counters.answered + counters.AllRefused(), 0u);
    EXPECT_EQ(counters.waiting, 0);
  }
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
