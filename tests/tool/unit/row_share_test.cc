// How many rows may be refused or bad, and the line that goes on with a load.

#include "row_share.h"

#include <gtest/gtest.h>

#include "exit_code.h"
#include "go_on.h"

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(RowShareTest, Percents) {
  EXPECT_EQ(ParsePercent("0%").value(), 0);
  EXPECT_EQ(ParsePercent("2.5%").value(), 2.5);
  EXPECT_EQ(ParsePercent("100").value(), 100);
  for (const char* const wrong : {"", "%", "x", "5%%", "-1", "100.1", "nan", "inf", " 5", "5 %"}) {
    EXPECT_FALSE(ParsePercent(wrong).ok()) << wrong;
  }
}

TEST(RowShareTest, JudgesTheShare) {
  Session session;
  EXPECT_TRUE(JudgeRows(0, 0, 0, &session).ok());
  EXPECT_TRUE(JudgeRows(0, 10, 0, &session).ok());
  EXPECT_TRUE(JudgeRows(1, 10, 10, &session).ok());
  EXPECT_TRUE(JudgeRows(10, 10, 100, &session).ok());
  EXPECT_EQ(session.exit_code, 0);
  EXPECT_FALSE(JudgeRows(1, 10, 9.99, &session).ok());
  EXPECT_EQ(session.exit_code, kExitRows);
  EXPECT_FALSE(JudgeRows(1, 1'000'000'000'000, 0, &session).ok()) << "one row is more than none";
}

TEST(GoOnTest, QuotesForAShell) {
  EXPECT_EQ(ShellQuote("plays-1.csv"), "plays-1.csv");
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote("$x;`"), "'$x;`'");
}

TEST(GoOnTest, PutsTheSkipInPlaceOfAnEarlierOne) {
  EXPECT_EQ(GoOnLine({"seendb", "load", "a b"}, 5), "seendb load 'a b' --skip 5");
  EXPECT_EQ(GoOnLine({"seendb", "load", "a", "--skip", "3", "--now"}, 5),
            "seendb load a --now --skip 5");
  EXPECT_EQ(GoOnLine({"seendb", "load", "--skip=3", "a"}, 5), "seendb load a --skip 5");
  EXPECT_EQ(GoOnLine({"seendb", "load", "a", "--resume", "s"}, 0), "seendb load a --resume s");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
