#include "progress.h"

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(ProgressLine, WithAKnownTotal) {
  EXPECT_EQ(ProgressLine(0.5, 2'000, "rows", 2, 0),
            "[===============>              ]  50%  2,000 rows  1,000/s  2.0 s left");
  EXPECT_EQ(ProgressLine(1, 4'000, "rows", 4, 0),
            "[==============================] 100%  4,000 rows  1,000/s");
  EXPECT_EQ(ProgressLine(7, 1, "rows", 0, 0), "[==============================] 100%  1 rows");
}

TEST(ProgressLine, WithoutATotal) {
  EXPECT_EQ(ProgressLine(-1, 500, "plays", 0.5, 0), "500 plays  1,000/s");
}

TEST(ProgressLine, RowsOfAnEarlierRunDoNotCountForTheSpeed) {
  EXPECT_EQ(ProgressLine(-1, 1'500, "rows", 1, 1'000), "1,500 rows  500/s");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
