// What the reads of a collection ask of its data-loss markers: each part for itself, of the users
// it is about, and no longer than buckets are read that it may concern.

#include "tables/data_loss.h"

#include <gtest/gtest.h>

#include "tables/meta_keys.h"
#include "tables/table_set.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kMarchMs = 1'773'144'000'000;  // 2026-03-10

std::string PartOf(std::string_view family) { return LossPartOf(ParseFamilyName(family)); }

TEST(DataLossSetTest, EachPartIsAskedForItself) {
  DataLossSet losses;
  const Policy policy;
  const int64_t bucket = BucketIndexOf(policy, kMarchMs);
  EXPECT_TRUE(losses.empty());
  const auto told = [&](std::string_view user) {
    std::string parts;
    if (losses.CoversLog(user, policy, bucket)) parts += "log ";
    if (losses.CoversImpressions(user, policy, bucket)) parts += "impressions ";
    if (losses.CoversExposures(user, policy, bucket)) parts += "exposures ";
    if (losses.CoversCounts(user, policy, bucket)) parts += "counts ";
    if (losses.CoversFilters(user, "2026-03")) parts += "filters ";
    if (losses.CoversHistory(user, "2026-03")) parts += "history ";
    return parts;
  };
  EXPECT_EQ(told("u"), "");
  const DataLoss of_u{kMarchMs, "a table", {{"u", "v"}}};
  losses.Add(PartOf("seen/video/2026-03"), of_u);
  EXPECT_EQ(told("u"), "filters ");
  EXPECT_EQ(told("w"), "");
  losses.Add(PartOf("impressions/video"), of_u);
  EXPECT_EQ(told("u"), "impressions filters ");
  losses.Add(PartOf("history/video/2026-03"), of_u);
  EXPECT_EQ(told("u"), "impressions filters history ");
  EXPECT_FALSE(losses.CoversFilters("u", "2026-02"));
  EXPECT_FALSE(losses.CoversHistory("u", "2026-02"));
  losses.Add(DataLossSet::kLog, {kMarchMs, "a log", {}});
  EXPECT_EQ(told("u"), "log impressions filters history ");
  EXPECT_EQ(told("w"), "log ") << "anybody's";
  // Rows and times of history are of one bucket.
  losses.Forget(PartOf("timeline/video/2026-03"));
  losses.Forget(PartOf("seen/video/2026-03"));
  EXPECT_EQ(told("u"), "log impressions ");
  losses.Forget(PartOf("seen/video/2026-03"));
  losses.Add(PartOf("exposures/video"), of_u);
  EXPECT_EQ(told("u"), "log impressions exposures ");
  losses.Add(PartOf("counts/video"), of_u);
  EXPECT_EQ(told("u"), "log impressions exposures counts ");
}

TEST(DataLossSetTest, LossesOfAPartAreJoined) {
  DataLossSet losses;
  losses.Add("2026-03", {1, "a table", {{"a", "b"}}});
  const DataLoss& all = losses.Add("2026-03", {2, "another", {{"x", "y"}}});
  EXPECT_EQ(all.reason, "a table; another");
  EXPECT_EQ(all.at_ms, 2);
  for (const char* user : {"a", "x"}) EXPECT_TRUE(losses.CoversFilters(user, "2026-03")) << user;
  EXPECT_FALSE(losses.CoversFilters("c", "2026-03"));
}

TEST(DataLossSetTest, ALostLogCountsAsLongAsBucketsOfItsTimeAreRead) {
  DataLossSet losses;
  Policy policy;
  policy.max_future_ms = 30 * kDayMs;  // plays in the lost part may be of April
  losses.Add(DataLossSet::kLog, {kMarchMs, "a log", {}});
  losses.Add(kImpressionsLabel, {kMarchMs, "a table", {}});
  const int64_t april = BucketIndexOf(policy, kMarchMs) + 1;
  EXPECT_TRUE(losses.CoversLog("u", policy, april));
  EXPECT_TRUE(losses.CoversImpressions("u", policy, april));
  EXPECT_FALSE(losses.CoversLog("u", policy, april + 1));
  EXPECT_FALSE(losses.CoversImpressions("u", policy, april + 1));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
