#include "redis_survey.h"

#include <gtest/gtest.h>

#include "key_set.h"
#include "seendb/policy.h"

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNowMs = 1'763'683'200'000;  // 2025-11-21
constexpr double kNowS = 1'763'683'200;
constexpr double kDayS = 86'400;

TEST(RedisSurvey, ProposesAPolicyThatHoldsAll) {
  RedisSurvey survey;
  survey.AddZset(3, {"1", kNowS - 368 * kDayS}, {"2", kNowS});
  survey.AddZset(1, {"3", kNowS - kDayS}, {"3", kNowS - kDayS});
  const Json report = survey.Report(kNowMs);
  EXPECT_EQ(report["users"], 2);
  EXPECT_EQ(report["members"], 4);
  EXPECT_EQ(report["score_unit"], "s");
  EXPECT_EQ(report["oldest_ms"], kNowMs - 368 * 86'400'000LL);
  EXPECT_EQ(report["newest_ms"], kNowMs);
  EXPECT_EQ(report["integer_members"], true);
  EXPECT_EQ(report["policy"], (Json{{"bucket", "month"}, {"window", 13}, {"retention", 14}}));
  EXPECT_EQ(report["notes"][0], "oldest score 12.1 months: window 13, retention 14");
  const auto patch = PolicyPatchFromJson(report["policy"].dump());
  ASSERT_TRUE(patch.ok());
  const Policy policy = ApplyPatch({}, *patch);
  EXPECT_TRUE(ValidatePolicy(policy).ok());
  EXPECT_GE(BucketIndexOf(policy, report["oldest_ms"].get<int64_t>()),
            BucketIndexOf(policy, kNowMs) - policy.window + 1);
}

TEST(RedisSurvey, LengthsAreCounted) {
  RedisSurvey survey;
  for (uint64_t i = 1; i <= 100; ++i) survey.AddZset(i, {"a", kNowS}, {"b", kNowS});
  const Json report = survey.Report(kNowMs);
  EXPECT_EQ(report["members"], 5'050);
  EXPECT_EQ(report["integer_members"], false);
  EXPECT_EQ(report["lengths"], (Json{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}}));
}

TEST(RedisSurvey, ScoresThatAreNoTimesAskForNoWindow) {
  RedisSurvey survey;
  survey.AddZset(5, {"a", 1}, {"b", 5});
  EXPECT_EQ(survey.Report(kNowMs)["score_unit"], "none");
  EXPECT_EQ(survey.Report(kNowMs)["policy"], Json::object());
  EXPECT_FALSE(survey.Report(kNowMs).contains("oldest_ms"));
  RedisSurvey lists;
  lists.AddPlain("list", 250);
  EXPECT_EQ(lists.Report(kNowMs)["policy"], (Json{{"impressions", 250}}));
}

TEST(RedisSurvey, SaysWhatFitsNoPolicy) {
  RedisSurvey survey;
  survey.AddZset(2, {"a", 6e8}, {"b", kNowS + 100 * kDayS});
  const Json report = survey.Report(kNowMs);
  EXPECT_EQ(report["policy"]["retention"], 128);
  EXPECT_EQ(report["policy"]["max_future"], "2402h");
  EXPECT_EQ(report["notes"].size(), 3u);
  EXPECT_TRUE(PolicyPatchFromJson(report["policy"].dump()).ok());
}

TEST(RedisSurvey, KeysOfAnotherUnitAreNoted) {
  RedisSurvey survey;
  survey.AddZset(1, {"a", kNowS}, {"a", kNowS});
  survey.AddZset(1, {"a", kNowS}, {"a", kNowS});
  survey.AddZset(1, {"a", kNowS * 1e3}, {"a", kNowS * 1e3});
  const Json report = survey.Report(kNowMs);
  EXPECT_EQ(report["score_unit"], "s");
  EXPECT_EQ(
      report["notes"].back(),
      "some scores are of another unit, or no times; oldest, newest and policy leave out 1 keys "
      "for it");
}

TEST(KeySet, KnowsWhatItMet) {
  KeySet met;
  for (int i = 0; i < 20'000; ++i) EXPECT_TRUE(met.Add("key:" + std::to_string(i)));
  for (int i = 0; i < 20'000; ++i) EXPECT_FALSE(met.Add("key:" + std::to_string(i)));
  EXPECT_EQ(met.size(), 20'000u);
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
