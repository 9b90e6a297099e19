// What is learned of costs.

#include "admission/cost_model.h"

#include <random>

#include <gtest/gtest.h>

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

using std::chrono::microseconds;

Ticket Of(int route, uint64_t bytes, Class cls = Class::kRead) {
  Ticket ticket;
  ticket.route = route;
  ticket.bytes = bytes;
  ticket.cls = cls;
  return ticket;
}

TEST(CostModelTest, FindsTheCostOfAByteAndOfARequest) {
  CostModel costs;
  std::mt19937 dice(1);
  for (int i = 0; i < 500; ++i) {
    const uint64_t bytes = 1'000 + dice() % 200'000;
    costs.Learn(Of(3, bytes), microseconds(40) + std::chrono::nanoseconds(3 * bytes));
  }
  for (const uint64_t bytes : {0u, 10'000u, 300'000u}) {
    const auto expected = static_cast<double>(40'000 + 3 * bytes);
    EXPECT_NEAR(static_cast<double>(costs.Estimate(Of(3, bytes)).count()), expected,
                .02 * expected);
  }
}

TEST(CostModelTest, AColdRouteCostsWhatItsClassDoes) {
  CostModel costs;
  EXPECT_EQ(costs.Estimate(Of(1, 10)), CostModel::kColdCost);
  costs.Learn(Of(1, 10, Class::kWrite), microseconds(70));
  EXPECT_EQ(costs.Estimate(Of(2, 10, Class::kWrite)), microseconds(70));
  EXPECT_EQ(costs.Estimate(Of(2, 10, Class::kRead)), CostModel::kColdCost);
  EXPECT_EQ(costs.Estimate(Of(-1, 10, Class::kWrite)), microseconds(70));
  EXPECT_EQ(costs.Estimate(Of(1 << 20, 10, Class::kWrite)), microseconds(70));
}

TEST(CostModelTest, FollowsAChangeWithinAFewHundredRequests) {
  CostModel costs;
  for (int i = 0; i < 1'000; ++i) costs.Learn(Of(1, 10), microseconds(100));
  for (int i = 0; i < 300; ++i) costs.Learn(Of(1, 10), microseconds(500));
  EXPECT_NEAR(static_cast<double>(costs.Estimate(Of(1, 10)).count()), 500e3, 10e3);
}

TEST(CostModelTest, PiecesOfStreamsDoNotCountForTheirRoute) {
  CostModel costs;
  costs.Learn(Of(1, 10), microseconds(100));
  costs.Learn(Of(1, 64 << 10, Class::kStream), microseconds(900));
  EXPECT_EQ(costs.Estimate(Of(1, 10)), microseconds(100));
  EXPECT_EQ(costs.Estimate(Of(1, 10, Class::kStream)), microseconds(900));
}

TEST(CostModelTest, NothingIsFree) {
  CostModel costs;
  for (int i = 0; i < 10; ++i) costs.Learn(Of(1, 0), Duration(0));
  EXPECT_EQ(costs.Estimate(Of(1, 0)), microseconds(1));
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
