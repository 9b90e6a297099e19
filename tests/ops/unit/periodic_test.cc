// Work that is done every so often.

#include "ops/periodic.h"

#include <atomic>
#include <future>
#include <stdexcept>

#include <gtest/gtest.h>

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

TEST(PeriodicTest, RunsAgainAndAgainUntilItIsStopped) {
  std::atomic<int> runs{0};
  Periodic periodic;
  periodic.Start("test", milliseconds(1), [&] {
    if (++runs == 2) throw std::runtime_error("this run alone fails");
  });
  while (runs < 4) std::this_thread::yield();
  EXPECT_TRUE(periodic.Stop(10'000));
  const int last = runs;
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(runs, last);
}

TEST(PeriodicTest, StopDoesNotWaitForTheNextRun) {
  std::atomic<int> runs{0};
  Periodic periodic;
  periodic.Start("test", std::chrono::hours(1), [&] { ++runs; });
  EXPECT_TRUE(periodic.Stop(10'000));
  EXPECT_EQ(runs, 0);
}

TEST(PeriodicTest, StopSaysWhetherARunHangs) {
  std::promise<void> begun, release;
  Periodic periodic;
  periodic.Start("test", milliseconds(1), [&] {
    begun.set_value();
    release.get_future().wait();
  });
  begun.get_future().wait();
  EXPECT_FALSE(periodic.Stop(10));
  release.set_value();
  EXPECT_TRUE(periodic.Stop(10'000));
}

TEST(PeriodicTest, NeedNotBeStarted) {
  Periodic periodic;
  EXPECT_TRUE(periodic.Stop(0));
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
