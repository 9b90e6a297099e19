// How important a request counts.

#include "admission/priority.h"

#include <gtest/gtest.h>

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

constexpr auto kHigh = Priority::kHigh, kNormal = Priority::kNormal, kLow = Priority::kLow;

TEST(PriorityTest, IsReadInAnyCase) {
  EXPECT_EQ(ParsePriority("high"), kHigh);
  EXPECT_EQ(ParsePriority("Normal"), kNormal);
  EXPECT_EQ(ParsePriority("LOW"), kLow);
  EXPECT_FALSE(ParsePriority("lower"));
  EXPECT_FALSE(ParsePriority(""));
  EXPECT_FALSE(ParsePriority("high, low"));
}

TEST(PriorityTest, WithoutTokensWhatIsAskedForOrTheRoutes) {
  EXPECT_EQ(PriorityOf({.asked = kHigh, .route = kLow}), kHigh);
  EXPECT_EQ(PriorityOf({.asked = kLow, .route = kHigh}), kLow);
  EXPECT_EQ(PriorityOf({.route = kLow}), kLow);
}

TEST(PriorityTest, ATokenIsTheCap) {
  EXPECT_EQ(PriorityOf({.asked = kHigh, .has_token = true, .token = kNormal}), kNormal);
  EXPECT_EQ(PriorityOf({.asked = kHigh, .has_token = true, .token = kHigh}), kHigh);
  EXPECT_EQ(PriorityOf({.asked = kNormal, .has_token = true, .token = kLow}), kLow);
  EXPECT_EQ(PriorityOf({.asked = kLow, .has_token = true, .token = kHigh}), kLow);
  EXPECT_EQ(PriorityOf({.has_token = true, .token = kHigh, .route = kLow}), kHigh);
}

TEST(PriorityTest, ATokenThatNamesNoneCapsAtNormalAndLeavesRoutesTheirs) {
  EXPECT_EQ(PriorityOf({.asked = kHigh, .has_token = true}), kNormal);
  EXPECT_EQ(PriorityOf({.asked = kHigh, .has_token = true, .route = kHigh}), kHigh);
  EXPECT_EQ(PriorityOf({.has_token = true, .route = kHigh}), kHigh);
  EXPECT_EQ(PriorityOf({.asked = kNormal, .has_token = true, .route = kLow}), kNormal);
  EXPECT_EQ(PriorityOf({.has_token = true, .route = kLow}), kLow);
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
