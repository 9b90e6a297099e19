// A state of history is a join: whatever the order, the grouping and the repetition of reports and
// deletions, the result is the same, and it is what a list of all of them says.

#include "format/history_state.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "seendb/history.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

const std::vector<std::string> kTexts = {"", "a", "b", "tv"};

HistoryState RandomStep(std::mt19937_64& random) {
  const auto at_ms = static_cast<int64_t>(random() % 12);
  if (random() % 5 == 0) return DeletionAt(at_ms);
  HistoryState report;
  report.at_ms = at_ms;
  const auto seconds = [&] { return static_cast<int32_t>(random() % 4) - 1; };
  if (random() % 2 == 0) report.progress_s = {at_ms, seconds()};
  if (random() % 2 == 0) report.duration_s = {at_ms, std::max(0, seconds())};
  if (random() % 2 == 0) report.device = {at_ms, kTexts[random() % kTexts.size()]};
  if (random() % 3 == 0) report.fields = {at_ms, kTexts[random() % kTexts.size()]};
  return report;
}

// The larger position of one time: finished is above all.
int64_t Rank(int32_t seconds) { return seconds == kFinished ? INT64_MAX : seconds; }

// What a list of all steps says, by the rule as the header words it.
HistoryState Said(const std::vector<HistoryState>& steps) {
  HistoryState all;
  for (const HistoryState& step : steps) all.deleted_ms = std::max(all.deleted_ms, step.deleted_ms);
  const auto take = [](auto* word, const auto& said, auto rank) {
    if (!said.said()) return;
    const bool newer = said.said_ms > word->said_ms;
    const bool larger = said.said_ms == word->said_ms && rank(said.value) > rank(word->value);
    if (newer || larger) *word = said;
  };
  const auto same = [](auto value) { return value; };
  for (const HistoryState& step : steps) {
    if (step.at_ms <= all.deleted_ms) continue;
    all.at_ms = std::max(all.at_ms, step.at_ms);
    take(&all.progress_s, step.progress_s, Rank);
    take(&all.duration_s, step.duration_s, same);
    take(&all.device, step.device, same);
    take(&all.fields, step.fields, same);
  }
  return all;
}

// Joins the steps in pairs picked at random until one state is left.
HistoryState JoinedSomehow(std::mt19937_64& random, std::vector<HistoryState> steps) {
  for (size_t i = 0; i < 3; ++i) steps.push_back(steps[random() % steps.size()]);  // repetitions
  while (steps.size() > 1) {
    std::swap(steps[random() % steps.size()], steps.back());
    HistoryState last = steps.back();
    steps.pop_back();
    HistoryState& other = steps[random() % steps.size()];
    if (random() % 2 == 0) {
      other.Join(last);
    } else {
      last.Join(other);
      other = last;
    }
  }
  return steps.front();
}

TEST(HistoryState, IsWhatAListOfAllReportsSaysInAnyOrderAndGrouping) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 5'000; ++round) {
    std::vector<HistoryState> steps;
    for (size_t i = 0; i <= random() % 8; ++i) steps.push_back(RandomStep(random));
    const HistoryState said = Said(steps);
    ASSERT_EQ(JoinedSomehow(random, steps), said) << "round " << round;
    ASSERT_EQ(JoinedSomehow(random, steps), said) << "round " << round;
  }
}

TEST(HistoryState, WordsAreReadAsTheyWereWritten) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 5'000; ++round) {
    std::vector<HistoryState> steps;
    for (size_t i = 0; i <= random() % 4; ++i) steps.push_back(RandomStep(random));
    const HistoryState state = JoinedSomehow(random, steps);
    std::string bytes;
    PutWords(&bytes, state);
    HistoryState read;
    read.at_ms = state.at_ms;
    read.deleted_ms = state.deleted_ms;
    Reader in(bytes);
    ReadWords(&in, &read);
    ASSERT_TRUE(in.ok());
    ASSERT_EQ(in.remaining(), 0u);
    ASSERT_EQ(read, state) << "round " << round;
  }
}

TEST(HistoryState, FinishedIsAboveEveryPositionOfItsTime) {
  HistoryState all;
  for (const int32_t seconds : {kFinished, 0, 127, 128, INT32_MAX}) {
    HistoryState report;
    report.at_ms = 5;
    report.progress_s = {5, seconds};
    all.Join(report);
    EXPECT_EQ(all.progress_s.value, kFinished);
  }
  HistoryState later;
  later.at_ms = 6;
  later.progress_s = {6, 0};
  all.Join(later);
  EXPECT_EQ(all.progress_s.value, 0) << "watched again from its beginning";
}

TEST(HistoryState, WordsUpToATimeEndAndTheReportStays) {
  HistoryState state;
  state.at_ms = 9;
  state.progress_s = {9, 1};
  state.duration_s = {4, 60};
  state.EndWordsUpTo(4);
  EXPECT_EQ(state.at_ms, 9);
  EXPECT_TRUE(state.progress_s.said());
  EXPECT_FALSE(state.duration_s.said());
  EXPECT_FALSE(state.SaysAllAfter(4));
}

TEST(HistoryState, WordsBeforeATimeAreTakenOutAndJoinToTheSame) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 2'000; ++round) {
    std::vector<HistoryState> steps;
    for (size_t i = 0; i <= random() % 6; ++i) steps.push_back(RandomStep(random));
    const HistoryState whole = JoinedSomehow(random, steps);
    const auto begin_ms = static_cast<int64_t>(random() % 14);
    HistoryState rest = whole;
    HistoryState earlier = rest.TakeWordsBefore(begin_ms);
    EXPECT_LT(earlier.at_ms, begin_ms);
    EXPECT_EQ(rest.at_ms, whole.at_ms);
    HistoryState none = rest;
    EXPECT_EQ(none.TakeWordsBefore(begin_ms).at_ms, kNoTimeMs) << "nothing is left of them";
    earlier.Join(rest);
    if (whole.at_ms == kNoTimeMs) continue;
    EXPECT_EQ(earlier, whole) << "round " << round;
  }
}

TEST(HistoryState, OfVersion1ZeroAndAnEmptyTextSayNothing) {
  const std::string nothing(4, '\0'), all("\x02\x3c\x01t\x02{}", 7);
  for (const bool says : {false, true}) {
    HistoryState state;
    state.at_ms = 7;
    Reader in(says ? all : nothing);
    ReadPayloadV1(&in, &state);
    ASSERT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0u);
    EXPECT_EQ(state.SaysAllAfter(6), says);
    EXPECT_EQ(state.progress_s.said(), says);
    EXPECT_EQ(state.duration_s.value, says ? 60 : 0);
    EXPECT_EQ(state.device.said(), says);
    EXPECT_EQ(state.fields.said(), says);
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
