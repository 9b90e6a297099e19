// Where the reading of a partition begins.

#include "ingest/start.h"

#include <gtest/gtest.h>

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

using ops::KafkaStart;

TEST(StartTest, WhatIsStoredCounts) {
  for (const KafkaStart start : {KafkaStart::kRefuse, KafkaStart::kEarliest, KafkaStart::kLatest}) {
    for (const int64_t stored : {10, 15, 20}) {
      const StartPoint point = ChooseStart(
          {.stored = stored, .known = true, .topic_known = true, .low = 10, .high = 20}, start);
      EXPECT_EQ(point.offset, stored);
      EXPECT_EQ(point.alarm, "");
      EXPECT_EQ(point.lost, 0);
    }
  }
}

TEST(StartTest, WhatIsGoneIsAnAlarmAndReadingGoesOn) {
  const StartPoint point =
      ChooseStart({.stored = 4, .known = true, .topic_known = true, .low = 10, .high = 20},
                  KafkaStart::kRefuse);
  EXPECT_EQ(point.offset, 10);
  EXPECT_EQ(point.alarm, "truncated");
  EXPECT_EQ(point.lost, 6);
}

// Another replica may have it.
TEST(StartTest, AReplicaDoesNotPassOverWhatIsGone) {
  PartitionFacts facts{.stored = 4, .known = true, .replicated = true, .low = 10, .high = 20};
  const StartPoint point = ChooseStart(facts, KafkaStart::kEarliest);
  EXPECT_EQ(point.offset, std::nullopt);
  EXPECT_EQ(point.alarm, "truncated");
  EXPECT_NE(point.held.find("begins at offset 10, and this replica goes on from 4"),
            std::string::npos);
  facts.low = 4;
  EXPECT_EQ(ChooseStart(facts, KafkaStart::kEarliest).offset, 4);
}

TEST(StartTest, BeyondTheEndIsHeld) {
  const StartPoint point =
      ChooseStart({.stored = 21, .known = true, .topic_known = true, .low = 10, .high = 20},
                  KafkaStart::kEarliest);
  EXPECT_EQ(point.offset, std::nullopt);
  EXPECT_EQ(point.alarm, "beyond_end");
  EXPECT_NE(point.held, "");
}

TEST(StartTest, ATopicThatMayBeReadTwiceBeginsAnew) {
  const StartPoint point = ChooseStart(
      {.stored = 21, .known = true, .topic_known = true, .repeatable = true, .low = 10, .high = 20},
      KafkaStart::kLatest);
  EXPECT_EQ(point.offset, 10);
  EXPECT_EQ(point.alarm, "beyond_end");
  EXPECT_EQ(point.held, "");
}

// The log has grown past the stored offset since: its beginning was never read.
TEST(StartTest, WhatWasHeldStaysHeld) {
  for (const int64_t high : {20, 21, 5'000}) {
    for (const bool stored : {true, false}) {
      PartitionFacts facts{.held = true, .known = true, .topic_known = true, .high = high};
      if (stored) facts.stored = 20;
      const StartPoint point = ChooseStart(facts, KafkaStart::kEarliest);
      EXPECT_EQ(point.offset, std::nullopt) << high;
      EXPECT_EQ(point.alarm, "beyond_end");
      EXPECT_NE(point.held, "");
    }
  }
}

TEST(StartTest, TheMessageBeforeTellsWhetherTheLogIsTheSame) {
  PartitionFacts facts{
      .stored = 15, .last = SourceMark{13, 7}, .known = true, .topic_known = true, .high = 20};
  for (const int64_t low : {0, 13}) {
    facts.low = low;
    EXPECT_EQ(ChooseStart(facts, KafkaStart::kRefuse).offset, 15);
    EXPECT_EQ(ChooseStart(facts, KafkaStart::kRefuse).check, (SourceMark{13, 7}));
  }
  facts.low = 14;
  EXPECT_EQ(ChooseStart(facts, KafkaStart::kRefuse).offset, 15);
  EXPECT_EQ(ChooseStart(facts, KafkaStart::kRefuse).check, std::nullopt) << "it is gone";
  facts.low = 16;
  EXPECT_EQ(ChooseStart(facts, KafkaStart::kRefuse).check, std::nullopt);
}

TEST(StartTest, AnUnknownTopicBeginsWhereTheSettingsSay) {
  const PartitionFacts facts{.low = 10, .high = 20};
  EXPECT_EQ(ChooseStart(facts, KafkaStart::kEarliest).offset, 10);
  EXPECT_EQ(ChooseStart(facts, KafkaStart::kLatest).offset, 20);
  EXPECT_EQ(ChooseStart(facts, KafkaStart::kTime).wanted_start, KafkaStart::kTime);
  const StartPoint refused = ChooseStart(facts, KafkaStart::kRefuse);
  EXPECT_EQ(refused.alarm, "no_start");
  EXPECT_NE(refused.held, "");
  EXPECT_EQ(refused.offset, std::nullopt);
}

TEST(StartTest, APartitionThatCameLaterBeginsAtItsBeginning) {
  for (const KafkaStart start : {KafkaStart::kRefuse, KafkaStart::kLatest, KafkaStart::kTime}) {
    EXPECT_EQ(ChooseStart({.topic_known = true, .low = 3, .high = 9}, start).offset, 3);
    // One that some shard forgot.
    EXPECT_EQ(ChooseStart({.known = true, .topic_known = true, .low = 3, .high = 9}, start).offset,
              3);
  }
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
