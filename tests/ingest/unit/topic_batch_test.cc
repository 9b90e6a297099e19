// What was polled becomes one batch for the engine.

#include "ingest/topic_batch.h"

#include <gtest/gtest.h>

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

TEST(TopicBatchTest, EventsStepsAndDeadLetters) {
  ops::KafkaTopic topic;
  topic.topic = "plays";
  topic.collection = "video";
  topic.fact = Fact::kServed;
  TopicBatch batch(topic);
  EXPECT_TRUE(batch.empty());
  batch.Add({3, 10, 111, "k", R"({"user":"u","item":"a"})"});
  batch.Add({1, 7, std::nullopt, "", R"([{"user":"u","item":"b"},{"user":"w","item":"c"}])"});
  batch.Add({3, 11, 111, "key", "bad"});
  batch.Add({3, 12, 112, "k", R"({"user":"u","item":"d"})"});
  batch.Step(5, 99);
  EXPECT_FALSE(batch.empty());

  const IngestBatch view = batch.View();
  EXPECT_EQ(view.collection, "video");
  EXPECT_EQ(view.fact, Fact::kServed);
  ASSERT_EQ(view.plays.size(), 4u);
  ASSERT_EQ(view.origins.size(), 4u);
  ASSERT_EQ(view.sources.size(), 3u);
  const auto origin = [&](size_t i) {
    return std::pair(view.sources[view.origins[i].source].partition, view.origins[i].offset);
  };
  EXPECT_EQ(origin(0), std::pair(3u, int64_t{10}));
  EXPECT_EQ(origin(1), std::pair(1u, int64_t{7}));
  EXPECT_EQ(origin(2), std::pair(1u, int64_t{7}));
  EXPECT_EQ(origin(3), std::pair(3u, int64_t{12}));
  EXPECT_EQ(view.plays[0].at_ms, 111);
  EXPECT_EQ(view.plays[1].at_ms, std::nullopt);
  for (const SourceStep& step : view.sources) {
    EXPECT_EQ(step.topic, "plays");
    EXPECT_EQ(step.next_offset, step.partition == 3 ? 13 : step.partition == 1 ? 8 : 99);
    EXPECT_EQ(step.dead_letters.size(), step.partition == 3 ? 1u : 0u);
  }
  ASSERT_EQ(batch.dead_letters().size(), 1u);
  const DeadLetter& dead = batch.dead_letters()[0];
  EXPECT_EQ(dead.partition, 3);
  EXPECT_EQ(dead.offset, 11);
  EXPECT_EQ(dead.key, "key");
  EXPECT_EQ(dead.payload, "bad");
  EXPECT_FALSE(dead.reason.empty());

  batch.Clear();
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(batch.dead_letters().empty());
  batch.Add({1, 8, 1, "", R"({"user":"u","item":"b"})"});
  EXPECT_EQ(batch.View().sources.size(), 1u);
  EXPECT_EQ(batch.View().plays.size(), 1u);
}

TEST(TopicBatchTest, EventsGoWithTheirSurfaces) {
  ops::KafkaTopic topic;
  topic.topic = "shown";
  topic.fact = Fact::kExposed;
  topic.surface = {"page"};
  TopicBatch batch(topic);
  batch.Add({0, 1, 111, "", R"({"user":"u","item":"a","page":"home"})"});
  batch.Add({0, 2, 111, "", R"([{"user":"u","item":"b","page":"x"},{"user":"u"}])"});
  batch.Add({0, 3, 111, "", R"({"user":"u","item":"c"})"});
  const IngestBatch view = batch.View();
  EXPECT_EQ(view.fact, Fact::kExposed);
  ASSERT_EQ(view.plays.size(), 2u);
  ASSERT_EQ(view.surfaces.size(), 2u);
  EXPECT_EQ(view.surfaces[0], "home");
  EXPECT_EQ(view.surfaces[1], "");
  batch.Clear();
  EXPECT_TRUE(batch.View().surfaces.empty());
}

TEST(TopicBatchTest, EventsGoWithTheirGroups) {
  ops::KafkaTopic topic;
  topic.topic = "plays";
  topic.of = {"of"};
  topic.same_as = {"same_as"};
  TopicBatch batch(topic);
  batch.Add({0, 1, 111, "", R"({"user":"u","item":"a","of":["author:3"],"same_as":["src:9"]})"});
  batch.Add({0, 2, 111, "", R"([{"user":"u","item":"b","of":["x"]},{"user":"u","of":["y"]}])"});
  batch.Add({0, 3, 111, "", R"({"user":"u","item":"c","of":"author:4"})"});
  const IngestBatch view = batch.View();
  ASSERT_EQ(view.plays.size(), 2u);
  ASSERT_EQ(view.plays[0].of.size(), 1u);
  EXPECT_EQ(view.plays[0].of[0], "author:3");
  ASSERT_EQ(view.plays[0].same_as.size(), 1u);
  EXPECT_EQ(view.plays[0].same_as[0], "src:9");
  ASSERT_EQ(view.plays[1].of.size(), 1u);
  EXPECT_EQ(view.plays[1].of[0], "author:4");
  EXPECT_TRUE(view.plays[1].same_as.empty());
  EXPECT_TRUE(view.surfaces.empty());
}

TEST(TopicBatchTest, UpdatesOfItemsGoWithTheirOffsetsAndMayBecomeDeadLetters) {
  ops::KafkaTopic topic;
  topic.topic = "items";
  topic.items = true;
  TopicBatch batch(topic);
  batch.SetItemTypes(std::make_shared<const wire::ItemTypes>(
      wire::ItemTypes{{"author", ItemFieldType::kText}, {"hot", ItemFieldType::kBool}}));
  batch.Add({2, 4, 111, "k", R"({"id":"v1","version":7,"set":{"author":"a3"}})"});
  batch.Add({2, 5, 112, "k", R"([{"id":"v1","version":8,"unset":["hot"]},{"id":9,"version":1}])"});
  batch.Add(
      {2, 6, 113, "", R"([{"id":"v2","version":1},{"id":"v3","version":1,"set":{"who":1}}])"});
  batch.Add({2, 7, 114, "", "no json"});
  batch.Add({2, 8, std::nullopt, "k", {}});
  batch.Step(0, 3);
  ASSERT_EQ(batch.updates().size(), 3u);
  EXPECT_EQ(batch.updates()[0].id.ToString(), "v1");
  EXPECT_EQ(batch.updates()[0].set, (std::vector<ItemFieldValue>{{"author", std::string("a3")}}));
  EXPECT_EQ(batch.updates()[1].version, 8u);
  EXPECT_EQ(batch.updates()[2].id.ToString(), "9");
  EXPECT_EQ(batch.ItemSources(),
            (std::vector<ItemSource>{{"items", 0, 3, -1}, {"items", 2, 9, 114}}));
  ASSERT_EQ(batch.dead_letters().size(), 2u);
  EXPECT_EQ(batch.dead_letters()[0].offset, 6);
  EXPECT_EQ(batch.dead_letters()[0].reason, "the schema has no field who at /1/set/who");
  EXPECT_EQ(batch.dead_letters()[1].payload, "no json");
  batch.BuryOne(2, "is full");
  batch.BuryOne(1, "is full");  // of the same message
  ASSERT_EQ(batch.dead_letters().size(), 3u);
  EXPECT_EQ(batch.dead_letters()[2].offset, 5);
  EXPECT_EQ(batch.dead_letters()[2].reason, "is full");
  batch.Clear();
  EXPECT_TRUE(batch.updates().empty());
  EXPECT_TRUE(batch.ItemSources().empty());
}

TEST(TopicBatchTest, ABatchOfItemsIsBounded) {
  ops::KafkaTopic topic;
  topic.topic = "items";
  topic.items = true;
  TopicBatch batch(topic);
  batch.SetItemTypes(std::make_shared<const wire::ItemTypes>());
  const std::string one = R"({"id":"v1","version":7})";
  const std::string large = one + std::string(600'000, ' ');
  int64_t offset = 0;
  const auto add = [&](const std::string& payload) {
    const Message message{.offset = offset, .payload = payload};
    if (!batch.Fits(message)) return false;
    batch.Add(message);
    return ++offset > 0;
  };
  while (add(one)) ASSERT_LT(offset, 5'000);
  EXPECT_EQ(offset, 4'096);
  batch.Clear();
  for (const bool fits : {true, true, false}) EXPECT_EQ(add(large), fits);
  batch.Clear();
  EXPECT_TRUE(add(large));
}

TEST(TopicBatchTest, MarksAreNoEventsAndMayBecomeDeadLetters) {
  ops::KafkaTopic topic;
  topic.topic = "marks";
  topic.marks = true;
  topic.item.clear();
  topic.group = {"group"};
  topic.until = {"until"};
  TopicBatch batch(topic);
  const auto headers = [] { return Headers{{"trace", "t"}}; };
  batch.Add(
      {.partition = 3,
       .offset = 10,
       .at_ms = 111,
       .key = "k",
       .payload = R"([{"user":"u","group":"a","until":5},{"user":"w","group":"b","until":6}])",
       .headers = headers});
  batch.Add({3, 11, 112, "", "bad"});
  batch.Add({1, 7, 113, "", R"({"user":"u","group":"c","until":"always"})"});
  EXPECT_TRUE(batch.View().plays.empty());
  EXPECT_TRUE(batch.View().origins.empty());
  const std::vector<UserMark> marks = batch.MarksOf();
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_EQ(marks[1].user.ToString(), "w");
  EXPECT_EQ(marks[1].mark.group, "b");
  EXPECT_EQ(marks[1].mark.until_ms, 6);
  EXPECT_EQ(marks[1].mark.at_ms.ms, 111);
  EXPECT_EQ(marks[2].mark.until_ms, std::nullopt);
  batch.BuryOne(1, "too many");
  batch.BuryOne(0, "too many too");
  ASSERT_EQ(batch.dead_letters().size(), 2u);
  const DeadLetter& dead = batch.dead_letters()[1];
  EXPECT_EQ(dead.partition, 3);
  EXPECT_EQ(dead.offset, 10);
  EXPECT_EQ(dead.key, "k");
  EXPECT_EQ(dead.reason, "too many");
  EXPECT_EQ(dead.headers, headers());
  for (const SourceStep& step : batch.View().sources) {
    const std::vector<int64_t> letters(step.dead_letters.begin(), step.dead_letters.end());
    EXPECT_EQ(letters,
              step.partition == 3 ? (std::vector<int64_t>{10, 11}) : std::vector<int64_t>())
        << step.partition;
  }
  batch.Clear();
  EXPECT_TRUE(batch.MarksOf().empty());
}

TEST(TopicBatchTest, ADeadLetterHasTheHeadersOfItsRecord) {
  ops::KafkaTopic topic;
  TopicBatch batch(topic);
  int asked = 0;
  const auto headers = [&] {
    ++asked;
    return Headers{{"uid", "u"}, {"trace", "\xFF"}, {"uid", "w"}};
  };
  batch.Add({.offset = 1, .payload = R"({"user":"u","item":"a"})", .headers = headers});
  EXPECT_EQ(asked, 0);
  batch.Add({.offset = 2, .payload = "bad", .headers = headers});
  batch.Refuse({.offset = 3, .payload = "large", .headers = headers}, "too large");
  ASSERT_EQ(batch.dead_letters().size(), 2u);
  EXPECT_EQ(batch.dead_letters()[0].headers, headers());
  EXPECT_EQ(batch.dead_letters()[1].headers, headers());
}

TEST(TopicBatchTest, ARefusedMessageIsPassedOverAndCut) {
  ops::KafkaTopic topic;
  topic.topic = "plays";
  TopicBatch batch(topic);
  const std::string large(kRefusedBytes + 1, 'x');
  batch.Refuse({3, 10, 111, large, large}, "is too large");
  ASSERT_EQ(batch.dead_letters().size(), 1u);
  const DeadLetter& dead = batch.dead_letters()[0];
  EXPECT_EQ(dead.offset, 10);
  EXPECT_EQ(dead.reason, "is too large");
  EXPECT_EQ(dead.key.size(), kRefusedBytes);
  EXPECT_EQ(dead.payload.size(), kRefusedBytes);
  const IngestBatch view = batch.View();
  EXPECT_TRUE(view.plays.empty());
  ASSERT_EQ(view.sources.size(), 1u);
  EXPECT_EQ(view.sources[0].next_offset, 11);
  EXPECT_EQ(view.sources[0].dead_letters.size(), 1u);
}

TEST(TopicBatchTest, TheNewestTimeGoesWithTheStep) {
  ops::KafkaTopic topic;
  topic.topic = "plays";
  TopicBatch batch(topic);
  batch.Add({1, 7, 111, "", R"({"user":"u","item":"a"})"});
  batch.Add({1, 8, 222, "", "bad"});
  batch.Add({1, 9, std::nullopt, "", R"({"user":"u","item":"b"})"});
  batch.Hold(2, 40);
  batch.Step(3, 50);
  for (const SourceStep& step : batch.View().sources) {
    EXPECT_EQ(step.held, step.partition == 2);
    if (step.partition == 1) {
      EXPECT_EQ(step.last, (SourceMark{8, 222}));
    } else {
      EXPECT_EQ(step.last, std::nullopt);
    }
  }
  batch.Clear();
  batch.Step(2, 41);
  EXPECT_FALSE(batch.View().sources[0].held);
}

TEST(TopicBatchTest, IsFullBeforeAMessageCouldBreakTheLimit) {
  const ops::KafkaTopic topic;
  TopicBatch batch(topic);
  std::string many = "[";
  for (size_t i = 0; i < kMaxMessageEvents; ++i) many += R"({"user":1,"item":2},)";
  many.back() = ']';
  int64_t offset = 0;
  while (batch.Fits({})) batch.Add({0, offset++, 0, "", many});
  EXPECT_EQ(offset, 2);
  EXPECT_LE(batch.View().plays.size(), kMaxIngestEvents);
}

TEST(TopicBatchTest, EventsOfAnotherPartitionsUsersAreDeadLetters) {
  const ops::KafkaTopic topic;
  TopicBatch batch(topic, [](IdRef user) { return user.ToString() == "u" ? 3u : 4u; });
  batch.Add({3, 10, 111, "", R"({"user":"u","item":"a"})"});
  batch.Add({3, 11, 111, "key", R"([{"user":"u","item":"b"},{"user":"w","item":"c"}])"});
  batch.Add({4, 7, 111, "", R"({"user":"w","item":"d"})"});
  batch.Add({4, 8, 111, "", "bad"});
  const IngestBatch view = batch.View();
  ASSERT_EQ(view.plays.size(), 2u);
  EXPECT_EQ(view.plays[0].item.ToString(), "a");
  EXPECT_EQ(view.plays[1].item.ToString(), "d");
  EXPECT_EQ(view.origins.size(), 2u);
  ASSERT_EQ(batch.dead_letters().size(), 2u);
  const DeadLetter& dead = batch.dead_letters()[0];
  EXPECT_TRUE(dead.misrouted);
  EXPECT_EQ(dead.offset, 11);
  EXPECT_EQ(dead.key, "key");
  EXPECT_EQ(dead.reason, "misrouted: user \"w\" belongs to partition 4");
  EXPECT_FALSE(batch.dead_letters()[1].misrouted);
}

// Of events that arrived on several days the engine could not say which are the first of theirs.
TEST(TopicBatchTest, WhatArrivedOnAnotherDayIsForTheNextBatch) {
  const ops::KafkaTopic topic;
  TopicBatch batch(topic);
  const auto message = [](int64_t offset, std::optional<Arrival> arrival) {
    return Message{0, offset, 111, "", R"({"user":"u","item":"a"})", arrival};
  };
  ASSERT_TRUE(batch.Fits(message(0, Arrival{500, 7})));
  batch.Add(message(0, Arrival{500, 7}));
  ASSERT_TRUE(batch.Fits(message(1, Arrival{600, 7})));
  batch.Add(message(1, Arrival{600, 7}));
  EXPECT_FALSE(batch.Fits(message(2, Arrival{700, 8})));
  EXPECT_FALSE(batch.Fits(message(2, std::nullopt)));
  const IngestBatch view = batch.View();
  ASSERT_EQ(view.origins.size(), 2u);
  EXPECT_EQ(view.origins[0].arrived_ms, 500);
  EXPECT_EQ(view.origins[1].arrived_ms, 600);
  batch.Clear();
  batch.Add(message(2, std::nullopt));
  EXPECT_EQ(batch.View().origins[0].arrived_ms, std::nullopt);
  EXPECT_FALSE(batch.Fits(message(3, Arrival{700, 8})));
  EXPECT_TRUE(batch.Fits(message(3, std::nullopt)));
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
