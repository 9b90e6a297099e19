#include "ingest/log_ends.h"

#include <gtest/gtest.h>

namespace seendb::ingest {
namespace {

using std::chrono::seconds;

class LogEndsTest : public ::testing::Test {
 protected:
  static LogEnds::Time At(int64_t second) { return LogEnds::Time{seconds(second)}; }

  LogEnds ends_;
};

TEST_F(LogEndsTest, AtAnEndItHasAllOfThatMoment) {
  EXPECT_EQ(ends_.whole_at(), std::nullopt);
  ends_.Note(0, At(1), std::nullopt);
  EXPECT_EQ(ends_.whole_at(), std::nullopt) << "what it has is not known";
  ends_.Note(5, At(2), 5);
  EXPECT_EQ(ends_.whole_at(), At(2));
  ends_.Note(5, At(1), 5);
  EXPECT_EQ(ends_.whole_at(), At(2)) << "an answer that came late";
}

TEST_F(LogEndsTest, AnEndThatItComesToLaterTellsOfItsMoment) {
  ends_.Note(10, At(1), 0);
  ends_.Note(20, At(2), 3);
  ends_.Note(20, At(3), 3);
  ends_.Advance(9);
  EXPECT_EQ(ends_.whole_at(), std::nullopt);
  ends_.Advance(15);
  EXPECT_EQ(ends_.whole_at(), At(1));
  ends_.Advance(20);
  EXPECT_EQ(ends_.whole_at(), At(3));
}

TEST_F(LogEndsTest, OfManyEndsTheMomentIsKnownLessExactly) {
  for (int64_t i = 0; i < 1'000; ++i) ends_.Note(i + 1, At(i), 0);
  ends_.Advance(500);
  ASSERT_TRUE(ends_.whole_at());
  EXPECT_LE(*ends_.whole_at(), At(499));
  EXPECT_GE(*ends_.whole_at(), At(450));
  ends_.Advance(1'000);
  EXPECT_GE(*ends_.whole_at(), At(950));
}

}  // namespace
}  // namespace seendb::ingest
