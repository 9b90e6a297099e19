#include "base/time_text.h"

#include <gtest/gtest.h>

#include "seendb/policy.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(TimeText, NumberAndDate) {
  EXPECT_EQ(TimeText(1'773'144'000'000), "1773144000000 (2026-03-10T12:00:00Z)");
  EXPECT_EQ(TimeText(1'773'144'000'007), "1773144000007 (2026-03-10T12:00:00.007Z)");
  EXPECT_EQ(TimeText(0), "0 (1970-01-01T00:00:00Z)");
  EXPECT_EQ(TimeText(-1), "-1 (1969-12-31T23:59:59.999Z)");
  EXPECT_EQ(TimeText(kFirstTimeMs).substr(15), " (0001-01-01T00:00:00Z)");
  EXPECT_EQ(TimeText(kLastTimeMs + 1), std::to_string(kLastTimeMs + 1));
  EXPECT_EQ(TimeText(INT64_MIN), "-9223372036854775808");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
