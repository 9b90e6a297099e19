#include "play_log.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

std::vector<PlayLog::Event> All(const PlayLogOptions& options) {
  PlayLog log(options);
  std::vector<PlayLog::Event> events;
  PlayLog::Event event;
  while (log.Next(&event)) events.push_back(event);
  return events;
}

TEST(PlayLog, UsersHaveTheRealLogsTail) {
  const PlayLog log({.users = 20'000, .days = 1, .seed = 3});
  std::vector<uint64_t> plays;
  for (uint64_t user = 0; user < 20'000; ++user) plays.push_back(log.PlaysOf(user));
  std::sort(plays.begin(), plays.end());
  const auto at = [&](double p) {
    return static_cast<double>(plays[static_cast<size_t>(p * 20'000)]);
  };
  EXPECT_NEAR(at(0.50), 8'327, 8'327 * 0.05);
  EXPECT_NEAR(at(0.90), 24'418, 24'418 * 0.08);
  EXPECT_NEAR(at(0.99), 62'626, 62'626 * 0.12);
  EXPECT_EQ(plays.back(), 127'557U) << "cut off where the real log ends";
}

TEST(PlayLog, ScalesDown) {
  const PlayLog log({.users = 5'000, .plays_per_user_median = 40, .days = 1});
  std::vector<uint64_t> plays;
  for (uint64_t user = 0; user < 5'000; ++user) plays.push_back(log.PlaysOf(user));
  std::sort(plays.begin(), plays.end());
  EXPECT_NEAR(static_cast<double>(plays[2'500]), 40, 3);
  EXPECT_LE(plays.back(), 613U);
  EXPECT_GE(plays.front(), 1U);
}

TEST(PlayLog, GivesEachUserTheirPlaysInOrderOfTime) {
  const PlayLogOptions options = {.users = 50,
                                  .plays_per_user_median = 100,
                                  .days = 3,
                                  .items = 1'000,
                                  .start_ms = 1'700'000'000'000,
                                  .seed = 9};
  const PlayLog log(options);
  std::map<uint64_t, uint64_t> counts;
  int64_t last_ms = options.start_ms;
  const auto events = All(options);
  EXPECT_EQ(events.size(), log.total());
  for (const auto& event : events) {
    ASSERT_GE(event.at_ms, last_ms);
    ASSERT_LT(event.at_ms, options.start_ms + 3 * 86'400'000);
    ASSERT_LT(event.item, 1'000U);
    last_ms = event.at_ms;
    ++counts[event.user];
  }
  for (uint64_t user = 0; user < 50; ++user) EXPECT_EQ(counts[user], log.PlaysOf(user));
}

TEST(PlayLog, PopularityHasAHeadAndReachesTheTail) {
  const auto events = All({.users = 200, .plays_per_user_median = 500, .days = 1, .items = 1'000});
  std::map<uint64_t, uint64_t> counts;
  for (const auto& event : events) ++counts[event.item];
  std::vector<uint64_t> sorted;
  for (const auto& [item, count] : counts) sorted.push_back(count);
  std::sort(sorted.rbegin(), sorted.rend());
  uint64_t head = 0;
  for (size_t i = 0; i < 100; ++i) head += sorted[i];
  const double share = static_cast<double>(head) / static_cast<double>(events.size());
  EXPECT_GT(share, 0.35) << "the most popular tenth";
  EXPECT_LT(share, 0.60);
  EXPECT_GT(counts.size(), 990U);
  EXPECT_LT(counts.begin()->first, 10U);
}

TEST(PlayLog, SameSeedSameLog) {
  const PlayLogOptions options = {.users = 3, .plays_per_user_median = 5, .days = 2, .seed = 42};
  const auto a = All(options);
  const auto b = All(options);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].at_ms, b[i].at_ms);
    EXPECT_EQ(a[i].item, b[i].item);
  }
  PlayLogOptions other = options;
  other.seed = 43;
  const auto c = All(other);
  EXPECT_TRUE(c.size() != a.size() || c[0].at_ms != a[0].at_ms);
}

TEST(PlayLog, OneItemOneUser) {
  const auto events = All({.users = 1, .plays_per_user_median = 3, .days = 1, .items = 1});
  ASSERT_FALSE(events.empty());
  for (const auto& event : events) EXPECT_EQ(event.item, 0U);
}

TEST(PlayLog, OptionsOutOfRangeAreNamed) {
  EXPECT_EQ(PlayLogOptionError({}), "");
  EXPECT_NE(PlayLogOptionError({.users = 0}).find("users"), std::string::npos);
  EXPECT_NE(PlayLogOptionError({.plays_per_user_median = 0}).find("plays"), std::string::npos);
  EXPECT_NE(PlayLogOptionError({.days = 4'000}).find("days"), std::string::npos);
  EXPECT_NE(PlayLogOptionError({.items = 0}).find("items"), std::string::npos);
  EXPECT_NE(PlayLogOptionError({.start_ms = -1}).find("start"), std::string::npos);
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
