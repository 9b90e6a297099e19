// Levels by load and by hand, and what they leave out for whom.

#include "admission/degrade.h"

#include <gtest/gtest.h>

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Time At(int64_t ms) { return Time(milliseconds(ms)); }

/// Ticks each 100 ms from `from_ms` for `for_ms`.
void Tick(Degrade* degrade, double load, int64_t from_ms, int64_t for_ms) {
  for (int64_t ms = from_ms; ms < from_ms + for_ms; ms += 100) degrade->Tick(load, {}, At(ms));
}

TEST(DegradeTest, RisesEach200MsWhileTheLoadIsAboveOne) {
  Degrade degrade;
  Tick(&degrade, 1.5, 0, 400);
  EXPECT_EQ(degrade.level(), 2);
  Tick(&degrade, 1.5, 400, 5'000);
  EXPECT_EQ(degrade.level(), kMaxLevel);
}

TEST(DegradeTest, StaysWhereTheLevelBelowWouldNotFit) {
  Degrade degrade;
  Tick(&degrade, 1.5, 0, 400);
  Tick(&degrade, .85, 400, 20'000);  // .85 * .9 / .8 is above .9
  EXPECT_EQ(degrade.level(), 2);
}

TEST(DegradeTest, FallsOnceASecondWhereTheLevelBelowFits) {
  Degrade degrade;
  Tick(&degrade, 1.5, 0, 600);
  ASSERT_EQ(degrade.level(), 3);
  Tick(&degrade, .2, 600, 800);
  EXPECT_EQ(degrade.level(), 3);
  Tick(&degrade, .2, 1'400, 400);
  EXPECT_EQ(degrade.level(), 2);
  Tick(&degrade, .2, 1'800, 2'400);
  EXPECT_EQ(degrade.level(), 0);
}

TEST(DegradeTest, LeavesOutMoreOfTheLessImportant) {
  Degrade degrade;
  EXPECT_TRUE(degrade.For(Priority::kLow).none());
  struct Row {
    int level;
    double high, normal, low;
    bool high_verifies, normal_verifies, low_verifies, low_from_memory;
  };
  for (const Row& row :
       {Row{1, 1, .9, .7, true, true, false, false}, Row{2, 1, .8, .6, false, false, false, false},
        Row{4, .8, .6, .5, false, false, false, true},
        Row{5, .7, .5, .5, false, false, false, true}}) {
    degrade.ByHand({.level = row.level, .refuse = {}, .length = seconds(1)}, At(0));
    const Reduction high = degrade.For(Priority::kHigh), normal = degrade.For(Priority::kNormal),
                    low = degrade.For(Priority::kLow);
    EXPECT_DOUBLE_EQ(high.share, row.high) << row.level;
    EXPECT_DOUBLE_EQ(normal.share, row.normal) << row.level;
    EXPECT_DOUBLE_EQ(low.share, row.low) << row.level;
    EXPECT_EQ(high.verify, row.high_verifies) << row.level;
    EXPECT_EQ(normal.verify, row.normal_verifies) << row.level;
    EXPECT_EQ(low.verify, row.low_verifies) << row.level;
    EXPECT_FALSE(high.short_term_alone || normal.short_term_alone) << row.level;
    EXPECT_EQ(low.short_term_alone, row.low_from_memory) << row.level;
  }
}

TEST(DegradeTest, AnOrderHoldsForItsTimeAndThenTheLoadDecides) {
  Degrade degrade;
  Degrade::Order order{.level = 4, .refuse = {}, .length = seconds(10)};
  order.refuse[2] = true;
  degrade.ByHand(order, At(0));
  EXPECT_TRUE(degrade.by_hand());
  Tick(&degrade, 0, 0, 9'900);
  EXPECT_EQ(degrade.level(), 4);
  EXPECT_TRUE(degrade.Refuses(Priority::kLow));
  EXPECT_FALSE(degrade.Refuses(Priority::kNormal));
  Tick(&degrade, 0, 10'000, 6'000);
  EXPECT_EQ(degrade.level(), 0);
  EXPECT_FALSE(degrade.by_hand());
  EXPECT_FALSE(degrade.Refuses(Priority::kLow));
}

TEST(DegradeTest, TheNextOrderEndsTheOneBefore) {
  Degrade degrade;
  Degrade::Order order{.level = 5, .refuse = {}, .length = seconds(100)};
  order.refuse[2] = true;
  degrade.ByHand(order, At(0));
  degrade.ByHand({}, At(100));
  EXPECT_FALSE(degrade.by_hand());
  EXPECT_FALSE(degrade.Refuses(Priority::kLow));
  Tick(&degrade, 0, 200, 8'000);
  EXPECT_EQ(degrade.level(), 0);
}

TEST(DegradeTest, NoShareIsLessThanTheLeast) {
  Degrade degrade;
  Settings settings;
  settings.degrade_min_share = .75;
  degrade.ByHand({.level = 5, .refuse = {}, .length = seconds(10)}, At(0));
  degrade.Tick(0, settings, At(100));
  EXPECT_DOUBLE_EQ(degrade.For(Priority::kLow).share, .75);
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
