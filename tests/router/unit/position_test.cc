// SeenDB-Position, to and from text; what second tries are paid from.

#include "router/position.h"

#include <gtest/gtest.h>

#include "router/retry_budget.h"

namespace seendb::router::SEENDB_TEST_FILE {
namespace {

TEST(PositionTest, TheLargestOffsetOfAPartitionCounts) {
  Positions positions;
  EXPECT_EQ(PositionText(positions), "");
  NoteWritten(17, 4, &positions);
  NoteWritten(3, 1'041, &positions);
  NoteWritten(3, 9, &positions);
  EXPECT_EQ(PositionText(positions), "3:1042,17:5");
  EXPECT_EQ(ParsePosition("3:1042,17:5").value(), positions);
  EXPECT_EQ(ParsePosition(" 17:5 , 3:7,3:1042, 3:8").value(), positions);
  EXPECT_TRUE(ParsePosition("").value().empty());
}

TEST(PositionTest, WhatIsNoneIsRefused) {
  for (const char* text : {"x", "1", "1:", ":1", "1:2:3", "-1:2", "1:-2", "1:2;3:4", "1:2,,3:4",
                           "4294967296:1", "1:9223372036854775808"}) {
    EXPECT_EQ(ParsePosition(text).status().field(), "/SeenDB-Position") << text;
  }
  std::string many = "0:1";
  for (int i = 1; i < 1'024; ++i) many += "," + std::to_string(i) + ":1";
  EXPECT_TRUE(ParsePosition(many).ok());
  EXPECT_FALSE(ParsePosition(many + ",7:1").ok());
}

TEST(RetryBudgetTest, AnswersPayForSecondTries) {
  RetryBudget budget;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(budget.Take()) << i;
  EXPECT_FALSE(budget.Take());  // five tokens are left
  budget.Answered();
  EXPECT_TRUE(budget.Take());
  EXPECT_FALSE(budget.Take());
  for (int i = 0; i < 1'000; ++i) budget.Answered();
  int tries = 0;
  while (budget.Take()) ++tries;
  EXPECT_EQ(tries, 5);
}

}  // namespace
}  // namespace seendb::router::SEENDB_TEST_FILE
