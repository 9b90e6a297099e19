// Time that stands.

#include "ops/manual_clock.h"

#include <gtest/gtest.h>

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

TEST(ManualClockTest, MovesForwardOnly) {
  ManualClock clock(100);
  EXPECT_EQ(clock.NowMs(), 100);
  EXPECT_TRUE(clock.MoveTo(100));
  EXPECT_TRUE(clock.MoveTo(250));
  EXPECT_FALSE(clock.MoveTo(249));
  EXPECT_EQ(clock.NowMs(), 250);
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
