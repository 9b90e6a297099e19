#include "pace.h"

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(Pace, KeepsToItsRate) {
  Pace pace(1'000, 20, 0);
  EXPECT_EQ(pace.Take(500, 0), 0);
  EXPECT_DOUBLE_EQ(pace.Take(500, 0), 0.5);
  EXPECT_DOUBLE_EQ(pace.Take(1, 0.5), 0.5);
  EXPECT_EQ(pace.Take(1, 10), 0) << "what was not taken is not saved up";
  EXPECT_NEAR(pace.Take(1, 10), 0.001, 1e-9);
}

TEST(Pace, ALowRateTakesSmallPieces) {
  EXPECT_EQ(Pace(0, 20, 0).Piece(10'000), 10'000u);
  EXPECT_EQ(Pace(50'000, 20, 0).Piece(10'000), 5'000u);
  EXPECT_EQ(Pace(1'000'000, 20, 0).Piece(10'000), 10'000u);
  EXPECT_EQ(Pace(10, 20, 0).Piece(10'000), 100u);
}

TEST(Pace, WithoutARateNeverWaits) {
  Pace pace(0, 20, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pace.Take(10'000, 0), 0);
  pace.Note(1, 0.1);
  EXPECT_EQ(pace.limit(), 0);
}

TEST(Pace, HalvesWhenAnAnswerIsSlowAndComesBack) {
  Pace pace(0, 20, 0);
  pace.Take(100'000, 0);
  pace.Note(50, 1);
  EXPECT_DOUBLE_EQ(pace.limit(), 50'000);
  EXPECT_EQ(pace.slow(), 1u);
  pace.Take(50'000, 1);
  pace.Note(50, 2);
  EXPECT_DOUBLE_EQ(pace.limit(), 25'000);
  double now_s = 2;
  for (int i = 0; i < 3; ++i) pace.Note(1, ++now_s);
  EXPECT_GT(pace.limit(), 48'000);
  for (int i = 0; i < 20; ++i) pace.Note(1, ++now_s);
  EXPECT_EQ(pace.limit(), 0) << "as fast as before";
}

TEST(Pace, ComesBackToItsRateAndNoFurther) {
  Pace pace(10'000, 20, 0);
  pace.Take(10'000, 0);
  pace.Note(50, 1);
  EXPECT_DOUBLE_EQ(pace.limit(), 5'000);
  for (int i = 2; i < 20; ++i) pace.Note(1, i);
  EXPECT_DOUBLE_EQ(pace.limit(), 10'000);
}

TEST(Pace, NeverStops) {
  Pace pace(0, 20, 0);
  for (int i = 1; i < 50; ++i) pace.Note(1'000, i);
  EXPECT_DOUBLE_EQ(pace.limit(), 1'000);
  Pace slow(10, 20, 0);
  for (int i = 1; i < 50; ++i) slow.Note(1'000, i);
  EXPECT_DOUBLE_EQ(slow.limit(), 10);
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
