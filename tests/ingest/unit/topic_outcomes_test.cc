#include "ingest/topic_outcomes.h"

#include <gtest/gtest.h>

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

using std::chrono::seconds;

using Batch = TopicOutcomes::Batch;

TEST(TopicOutcomesTest, ATopicOfWhichNothingWasTakenIsNamedAfterAWhile) {
  TopicOutcomes outcomes;
  const TopicOutcomes::Clock::time_point begin{};
  outcomes.Note("a", {}, begin);  // a tombstone is neither
  EXPECT_TRUE(outcomes.NothingTaken(begin + seconds(60)).empty());
  outcomes.Note("a", {.not_taken = 1, .why = "missing field at /user"}, begin);
  outcomes.Note("b", {.taken = 1, .not_taken = 5, .why = "too_old"}, begin);
  outcomes.Note("c", {.deletions = 2}, begin);
  EXPECT_TRUE(outcomes.NothingTaken(begin + seconds(14)).empty());
  const auto named = outcomes.NothingTaken(begin + TopicOutcomes::kPatience);
  ASSERT_EQ(named.size(), 2u);
  EXPECT_NE(named.at("a").find("missing field at /user"), std::string::npos) << named.at("a");
  EXPECT_NE(named.at("c").find("ends in null"), std::string::npos) << named.at("c");
  outcomes.Note("a", {.taken = 1, .not_taken = 1}, begin + seconds(20));
  outcomes.Note("c", {.taken = 1}, begin + seconds(20));
  EXPECT_TRUE(outcomes.NothingTaken(begin + seconds(60)).empty());
}

TEST(TopicOutcomesTest, OneThatWasReadWellIsNamedAfterManyInARow) {
  TopicOutcomes outcomes;
  const TopicOutcomes::Clock::time_point begin{};
  outcomes.Note("a", {.taken = 1}, begin);
  outcomes.NoteTakenBefore("b");  // by an earlier process
  for (const char* topic : {"a", "b"}) {
    outcomes.Note(topic, {.not_taken = TopicOutcomes::kInARow - 1, .why = "too_old"}, begin);
    outcomes.Note(topic, {.deletions = 1'000}, begin);  // rows are deleted in bulk
  }
  EXPECT_TRUE(outcomes.NothingTaken(begin + seconds(60)).empty());
  outcomes.Note("a", {.not_taken = 1, .why = "in_future"}, begin + seconds(60));
  const auto named = outcomes.NothingTaken(begin + seconds(60));
  ASSERT_EQ(named.size(), 1u);
  EXPECT_NE(named.at("a").find("in_future"), std::string::npos) << named.at("a");
  // The log compares problems by their words: this one lasts, however many more are refused.
  outcomes.Note("a", {.not_taken = 50, .why = "in_future"}, begin + seconds(90));
  EXPECT_EQ(outcomes.NothingTaken(begin + seconds(90)).at("a"), named.at("a"));
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
