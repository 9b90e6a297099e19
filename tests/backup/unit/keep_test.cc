// Which backups stay.

#include "backup/keep.h"

#include <gtest/gtest.h>

namespace seendb::backup::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kHourMs = 3'600'000, kDayMs = 24 * kHourMs;

std::set<uint64_t> KeptBy(const char* keep, const std::map<uint64_t, int64_t>& began_ms) {
  const auto rules = ParseKeep(keep);
  EXPECT_TRUE(rules.ok());
  return Kept(began_ms, *rules);
}

TEST(KeepTest, TheNewestOfEachDayThatHasOne) {
  const std::map<uint64_t, int64_t> began_ms = {{1, 0 * kDayMs},
                                                {2, 5 * kDayMs},
                                                {3, 5 * kDayMs + 23 * kHourMs},
                                                {4, 6 * kDayMs},
                                                {5, 6 * kDayMs + kHourMs}};
  EXPECT_EQ(KeptBy("1d", began_ms), (std::set<uint64_t>{5}));
  EXPECT_EQ(KeptBy("2d", began_ms), (std::set<uint64_t>{3, 5}));
  EXPECT_EQ(KeptBy("3d", began_ms), (std::set<uint64_t>{1, 3, 5}));
}

TEST(KeepTest, WeeksBeginOnMondays) {
  // 1970-01-05 was a Monday.
  const std::map<uint64_t, int64_t> began_ms = {
      {1, 3 * kDayMs}, {2, 4 * kDayMs - 1}, {3, 4 * kDayMs}, {4, 11 * kDayMs - 1}};
  EXPECT_EQ(KeptBy("2w", began_ms), (std::set<uint64_t>{2, 4}));
}

TEST(KeepTest, RulesAddUpAndTheNewestStays) {
  std::map<uint64_t, int64_t> began_ms;
  for (uint64_t day = 1; day <= 40; ++day) {
    began_ms[day] = static_cast<int64_t>(20'000 + day) * kDayMs;
  }
  const std::set<uint64_t> kept = KeptBy("7d,4w", began_ms);
  EXPECT_TRUE(kept.contains(40));
  EXPECT_TRUE(kept.contains(34));
  EXPECT_FALSE(kept.contains(1));
  EXPECT_GE(kept.size(), 9u);   // two of the weeks at least lie before the days
  EXPECT_LE(kept.size(), 10u);  // the newest of the first week may be one of the days'
  EXPECT_TRUE(Kept({}, {}).empty());
  EXPECT_EQ(Kept({{3, 1}, {9, 2}}, {}), (std::set<uint64_t>{9}));
}

TEST(KeepTest, AnythingElseIsRefused) {
  for (const char* const text : {"", "7", "d", "7x", "0d", "-1d", "7d,", ",7d", "7d 4w", "7d,,4w",
                                 "99999999d", "7dd", " 7d"}) {
    EXPECT_EQ(ParseKeep(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace seendb::backup::SEENDB_TEST_FILE
