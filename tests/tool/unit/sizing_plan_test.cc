// The plan against the table of engine/doc/capacity.md, which rounds to two digits.

#include "sizing_plan.h"

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

// Within what rounding, and the fit of the figures, leave.
void ExpectNear(double got, double expected) { EXPECT_NEAR(got, expected, 0.06 * expected); }

TEST(SizingPlan, IsTheTableOfLightUsers) {
  const SizingPlan plan = PlanFor({.users = 10e6, .items_a_month = 30});
  ExpectNear(plan.plays_disk_bytes, 6.3e9);
  ExpectNear(plan.impressions_disk_bytes, 7.7e9);
  ExpectNear(plan.plays_in_busiest_hour, 1.25e6);
  ExpectNear(plan.restart_s, 1.03);
  ExpectNear(plan.hot_filter_bytes, 0.265e9);
  ExpectNear(plan.staged_bytes, 0.05e9);
  ExpectNear(plan.filters_per_s, 1'390);
  ExpectNear(plan.filter_cores, 0.33);
  ExpectNear(plan.cold_reads_per_s, 5'200);
}

TEST(SizingPlan, IsTheTableOfHeavyUsers) {
  const SizingPlan plan = PlanFor({.users = 50e6, .items_a_month = 3'300});
  ExpectNear(plan.plays_disk_bytes, 2'080e9);
  ExpectNear(plan.plays_in_busiest_hour, 688e6);
  ExpectNear(plan.restart_s, 568);
  ExpectNear(plan.hot_filter_bytes, 92e9);
  ExpectNear(plan.staged_bytes, 5.7e9);
}

TEST(SizingPlan, NobodyTakesNothing) {
  const SizingPlan plan = PlanFor({});
  EXPECT_EQ(plan.plays_disk_bytes, 0);
  EXPECT_EQ(plan.filters_per_s, 0);
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
