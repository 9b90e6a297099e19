#include "base/clock.h"

#include <ctime>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(Clock, SystemClockIsTheTimeOfDay) {
  const auto before = static_cast<int64_t>(std::time(nullptr)) * 1'000;
  const int64_t now = SystemClock()->NowMs();
  const auto after = (static_cast<int64_t>(std::time(nullptr)) + 1) * 1'000;
  EXPECT_GE(now, before - 1'000);
  EXPECT_LE(now, after + 1'000);
  EXPECT_EQ(SystemClock(), SystemClock());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
