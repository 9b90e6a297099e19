#include "ingest/topic_outcomes.h"

#include <gtest/gtest.h>

namespace seendb::ingest {
namespace {

using std::chrono::seconds;

TEST(TopicOutcomesTest, ATopicOfWhichNothingWasTakenIsNamedAfterAWhile) {
  TopicOutcomes outcomes;
  const TopicOutcomes::Clock::time_point begin{};
  outcomes.Note("a", 0, 0, "", begin);  // a tombstone is neither
  EXPECT_TRUE(outcomes.NothingTaken(begin + seconds(60)).empty());
  outcomes.Note("a", 0, 1, "missing field at /user", begin);
  outcomes.Note("b", 1, 5, "too_old", begin);
  EXPECT_TRUE(outcomes.NothingTaken(begin + seconds(14)).empty());
  const auto named = outcomes.NothingTaken(begin + TopicOutcomes::kPatience);
  ASSERT_EQ(named.size(), 1u);
  EXPECT_NE(named.at("a").find("missing field at /user"), std::string::npos) << named.at("a");
  outcomes.Note("a", 1, 1, "", begin + seconds(20));
  EXPECT_TRUE(outcomes.NothingTaken(begin + seconds(60)).empty());
}

TEST(TopicOutcomesTest, OneThatWasReadWellIsNamedAfterManyInARow) {
  TopicOutcomes outcomes;
  const TopicOutcomes::Clock::time_point begin{};
  outcomes.Note("a", 1, 0, "", begin);
  outcomes.Note("a", 0, TopicOutcomes::kInARow - 1, "too_old", begin);
  EXPECT_TRUE(outcomes.NothingTaken(begin + seconds(60)).empty());
  outcomes.Note("a", 0, 1, "in_future", begin + seconds(60));
  const auto named = outcomes.NothingTaken(begin + seconds(60));
  ASSERT_EQ(named.size(), 1u);
  EXPECT_NE(named.at("a").find("the last 100 "), std::string::npos) << named.at("a");
  EXPECT_NE(named.at("a").find("in_future"), std::string::npos) << named.at("a");
}

}  // namespace
}  // namespace seendb::ingest
