// What is shown of consumed partitions.

#include "ingest/partition_table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

using std::chrono::seconds;

TEST(RateTest, TheMeanOfTheLastTenWholeSeconds) {
  const Rate::Clock::time_point begin{seconds(1'000)};
  Rate rate;
  EXPECT_EQ(rate.PerSecond(begin), 0);
  for (int i = 0; i < 30; ++i) rate.Add(100, begin + seconds(i));
  EXPECT_EQ(rate.PerSecond(begin + seconds(30)), 100);
  EXPECT_EQ(rate.PerSecond(begin + seconds(35)), 50);
  EXPECT_EQ(rate.PerSecond(begin + seconds(60)), 0);
}

TEST(PartitionTableTest, ATopicOfItemsHasOffsetsOfTheStoreAndNoCollection) {
  ops::KafkaConfig config;
  config.topics.resize(1);
  config.topics[0].topic = "items";
  config.topics[0].items = true;
  config.topics[0].collection.clear();
  PartitionTable table(config);
  EXPECT_FALSE(table.IsAtEnd("items", 0, 7));
  table.Appear("items", 0);
  EXPECT_FALSE(table.IsAtEnd("items", 0, 7));
  table.SetHighWatermark("items", 0, 8);
  EXPECT_FALSE(table.IsAtEnd("items", 0, 7));
  EXPECT_TRUE(table.IsAtEnd("items", 0, 8));
  table.AddDeadLetters("items", 0, 2);
  const ItemSink store{.sources = [] {
    return Result<std::vector<ItemSource>>(std::vector<ItemSource>{
        {"items", 0, 7, 1'000}, {"items", 1, 0, 1'000}, {"items", 2, 5, -1}});
  }};
  const auto sources = SourcesOf(store);
  ASSERT_TRUE(sources.ok());
  ASSERT_EQ(sources->size(), 3u);
  EXPECT_EQ((*sources)[0].last->offset, 6);
  EXPECT_EQ((*sources)[0].last->time_ms, 1'000);
  EXPECT_FALSE((*sources)[1].last || (*sources)[2].last);
  const auto topics =
      nlohmann::json::parse(IngestStateToJson(table.Snapshot(*sources))).at("topics");
  EXPECT_FALSE(topics[0].contains("collection"));
  const auto& one = topics[0].at("partitions").at(0);
  EXPECT_EQ(one.at("applied_offset"), 7);
  EXPECT_EQ(one.at("lag"), 1);
  EXPECT_EQ(one.at("dead_letters"), 2);
}

TEST(PartitionTableTest, UnknownIsNullAndNeverAFalseZero) {
  ops::KafkaConfig config;
  config.topics.resize(2);
  config.topics[0].topic = "a";
  config.topics[1].topic = "b";
  config.topics[1].collection = "c";
  PartitionTable table(config);
  table.Appear("b", 2);
  const auto json = [&](const std::vector<SourceInfo>& sources) {
    return nlohmann::json::parse(IngestStateToJson(table.Snapshot(sources))).at("topics");
  };
  auto topics = json({});
  ASSERT_EQ(topics.size(), 2u);
  EXPECT_EQ(topics[0].at("partitions").size(), 0u);
  EXPECT_EQ(topics[1].at("collection"), "c");
  auto one = topics[1].at("partitions").at(0);
  EXPECT_EQ(one.at("partition"), 2);
  EXPECT_TRUE(one.at("lag").is_null());
  EXPECT_TRUE(one.at("high_watermark").is_null());
  EXPECT_TRUE(one.at("applied_offset").is_null());

  table.SetHighWatermark("b", 2, 50);
  EXPECT_TRUE(json({})[1].at("partitions")[0].at("lag").is_null());
  SourceInfo source;
  source.topic = "b";
  source.partition = 2;
  source.next_offset = 20;
  source.counts.dead_letters = 4;
  one = json({source})[1].at("partitions")[0];
  EXPECT_EQ(one.at("applied_offset"), 20);
  EXPECT_EQ(one.at("lag"), 30);
  EXPECT_EQ(one.at("dead_letters"), 4);
  source.next_offset.reset();
  EXPECT_TRUE(json({source})[1].at("partitions")[0].at("lag").is_null());
}

TEST(PartitionTableTest, WhatCantBeReadIsToldWhileItIsAnError) {
  ops::KafkaConfig config;
  PartitionTable table(config);
  const Rate::Clock::time_point begin{seconds(1'000)};
  const std::vector<std::string> told = {"topic t can't be read, partition 3: why"};
  table.SetUnread("t", 3, "why", begin);
  EXPECT_EQ(table.UnreadReasons(begin + seconds(29)), told);
  EXPECT_TRUE(table.UnreadReasons(begin + seconds(30)).empty()) << "librdkafka asked again since";
  table.SetUnread("t", 3, "why", begin + seconds(30));
  EXPECT_EQ(table.UnreadReasons(begin + seconds(31)), told);
  table.SetUnread("t", 3, "", begin + seconds(32));
  EXPECT_TRUE(table.UnreadReasons(begin + seconds(32)).empty());
  table.SetUnread("t", 3, "why", begin + seconds(33));
  table.SetHeld("t", 3, "");
  EXPECT_TRUE(table.UnreadReasons(begin + seconds(33)).empty()) << "read anew";
}

TEST(PartitionTableTest, RefusedEventsAreSummedByTopicAndReason) {
  ops::KafkaConfig config;
  config.topics.resize(2);
  config.topics[0].topic = "a";
  config.topics[1].topic = "b";
  PartitionTable table(config);
  IngestResult result;
  result.refused = 3;
  result.refused_by[static_cast<size_t>(RefusalReason::kTooOld)] = 1;
  result.refused_by[static_cast<size_t>(RefusalReason::kErased)] = 2;
  table.AddRefused("b", result);
  table.AddRefused("b", result);
  const ops::IngestState state = table.Snapshot({});
  const auto count = [&](size_t topic, RefusalReason reason) {
    return state.topics[topic].refused_by[static_cast<size_t>(reason)];
  };
  EXPECT_EQ(count(1, RefusalReason::kTooOld), 2u);
  EXPECT_EQ(count(1, RefusalReason::kErased), 4u);
  EXPECT_EQ(count(1, RefusalReason::kInFuture), 0u);
  EXPECT_EQ(count(0, RefusalReason::kErased), 0u);
}

TEST(PartitionTableTest, AlarmsStayAndAreNewOnce) {
  ops::KafkaConfig config;
  config.topics.resize(1);
  config.topics[0].topic = "a";
  PartitionTable table(config);
  EXPECT_TRUE(table.Raise("a", 0, "gap"));
  EXPECT_FALSE(table.Raise("a", 0, "gap"));
  EXPECT_TRUE(table.Raise("a", 0, "truncated"));
  table.AddLost("a", 0, 5);
  table.SetHeld("a", 0, "why");
  const ops::IngestPartition one = table.Snapshot({}).topics[0].partitions[0];
  EXPECT_EQ(one.alarms, (std::vector<std::string>{"gap", "truncated"}));
  EXPECT_EQ(one.lost, 5u);
  EXPECT_EQ(one.held, "why");
}

TEST(PartitionTableTest, APartitionIsAsFarBehindAsTheTopicThatIsMost) {
  ops::KafkaConfig config;
  config.topics.resize(2);
  config.topics[0].topic = "a";
  config.topics[1].topic = "b";
  PartitionTable table(config);
  std::vector<SourceInfo> sources(2);
  sources[0].topic = "a";
  sources[1].topic = "b";
  for (SourceInfo& one : sources) one.partition = 2;
  const auto behind_ms = [&] { return table.BehindMs(sources, 10'000); };
  EXPECT_TRUE(behind_ms().empty());  // where it begins is not known yet
  table.SetBegun({2});
  EXPECT_EQ(behind_ms().at(2), 0);  // there is no such topic
  for (const char* topic : {"a", "b"}) {
    table.Appear(topic, 2);
    table.SetHighWatermark(topic, 2, 50);
  }
  EXPECT_EQ(behind_ms().at(2), 10'000);  // nothing of it is applied
  sources[0].next_offset = 49;
  sources[0].last = SourceMark{48, 9'000};
  sources[1].next_offset = 40;
  sources[1].last = SourceMark{39, 4'000};
  EXPECT_EQ(behind_ms().at(2), 6'000);
  sources[1].next_offset = 50;
  EXPECT_EQ(behind_ms().at(2), 1'000);
  sources[0].next_offset = 50;
  EXPECT_EQ(behind_ms().at(2), 0);
  table.SetHeld("b", 2, "a gap");  // it does not get on, wherever it is
  EXPECT_EQ(behind_ms().at(2), 6'000);
  EXPECT_EQ(table.HeldReasons(), std::vector<std::string>{"topic b is not consumed: a gap"});
  EXPECT_EQ(behind_ms().size(), 1u);
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
