// What is a flood, and what only looks like one.

#include "admission/flood.h"

#include <gtest/gtest.h>

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

class FloodTest : public testing::Test {
 protected:
  /// For so long, each 4 ms: ten heads that are `ago` old, then reading is cut short.
  void CutShortFor(milliseconds length, milliseconds ago) {
    for (const Time end = now_ + length; now_ < end; now_ += milliseconds(4)) {
      for (int i = 0; i < 10; ++i) flood_.ReadHead(ago);
      flood_.CutShort(now_, now_ + milliseconds(2));
    }
  }

  Flood flood_;
  Time now_{std::chrono::hours(1)};
};

TEST_F(FloodTest, ReadingThatIsCutShortAloneIsNone) {
  CutShortFor(milliseconds(10'000), milliseconds(20));
  EXPECT_FALSE(flood_.on());
}

TEST_F(FloodTest, HeadsThatWaitUnreadAreOneAfterAWhile) {
  CutShortFor(milliseconds(90), milliseconds(150));
  EXPECT_FALSE(flood_.on());
  CutShortFor(milliseconds(20), milliseconds(150));
  EXPECT_TRUE(flood_.on());
}

TEST_F(FloodTest, ItEndsOnceHeadsWaitHalfAsLong) {
  CutShortFor(milliseconds(200), milliseconds(150));
  CutShortFor(milliseconds(1'000), milliseconds(60));
  EXPECT_TRUE(flood_.on());
  CutShortFor(milliseconds(100), milliseconds(40));  // though more comes all the time
  EXPECT_FALSE(flood_.on());
}

TEST_F(FloodTest, ItEndsOnceAllIsRead) {
  CutShortFor(milliseconds(200), milliseconds(150));
  flood_.ReadAll();
  EXPECT_FALSE(flood_.on());
  CutShortFor(milliseconds(50), milliseconds(150));
  EXPECT_FALSE(flood_.on());
}

TEST_F(FloodTest, AfterAStallOldHeadsAreNone) {
  for (int i = 0; i < 1'000; ++i) flood_.ReadHead(milliseconds(500));
  flood_.CutShort(now_, now_ + milliseconds(2));
  EXPECT_FALSE(flood_.on());
  flood_.ReadAll();
  CutShortFor(milliseconds(1'000), milliseconds(1));
  EXPECT_FALSE(flood_.on());
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
