// The object "kafka" of the config file.

#include "ops/kafka_config.h"

#include <gtest/gtest.h>

#include "ops/config.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

using Path = std::vector<std::string>;

TEST(KafkaConfigTest, ReadsEveryKey) {
  Config config;
  const Status status = ReadConfig(R"({"kafka": {
    "brokers": "a:1,b:2", "group": "g", "start": 1700000000000, "dead_letter_topic": "dead",
    "topics": [{"topic": "plays", "collection": "video", "kind": "plays", "user": "uid",
                "item": "/event/video~1id", "at": "/event/ts", "at_unit": "s", "gaps": "expected"},
               {"topic": "served", "kind": "impressions"}],
    "partitions": [3, 0], "batch_messages": 5, "batch_ms": 6, "queued_bytes": 1048576, "message_bytes": 2048,
    "refresh_ms": 70, "commit_ms": 80,
    "properties": {"security.protocol": "ssl", "socket.keepalive.enable": "true"}}})",
                                   &config);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(config.kafka.has_value());
  const KafkaConfig& kafka = *config.kafka;
  EXPECT_EQ(kafka.brokers, "a:1,b:2");
  EXPECT_EQ(kafka.group, "g");
  EXPECT_EQ(kafka.start, KafkaStart::kTime);
  EXPECT_EQ(kafka.start_ms, 1'700'000'000'000);
  EXPECT_EQ(kafka.dead_letter_topic, "dead");
  ASSERT_EQ(kafka.topics.size(), 2u);
  EXPECT_EQ(kafka.topics[0].collection, "video");
  EXPECT_EQ(kafka.topics[0].fact, Fact::kPlayed);
  EXPECT_EQ(kafka.topics[0].user, Path{"uid"});
  EXPECT_EQ(kafka.topics[0].item, (Path{"event", "video/id"}));
  EXPECT_EQ(kafka.topics[0].at, (Path{"event", "ts"}));
  EXPECT_EQ(kafka.topics[0].at_unit, AtUnit::kSeconds);
  EXPECT_TRUE(kafka.topics[0].gaps_expected);
  EXPECT_EQ(kafka.topics[1].fact, Fact::kServed);
  EXPECT_EQ(kafka.topics[1].user, Path{"user"});
  EXPECT_EQ(kafka.topics[1].item, Path{"item"});
  EXPECT_EQ(kafka.topics[1].at, Path{});
  EXPECT_FALSE(kafka.topics[1].gaps_expected);
  EXPECT_EQ(kafka.partitions, (std::vector<int32_t>{0, 3}));
  EXPECT_EQ(kafka.batch_messages, 5u);
  EXPECT_EQ(kafka.batch_ms, 6u);
  EXPECT_EQ(kafka.message_bytes, 2048u);
  EXPECT_EQ(kafka.queued_bytes, 1'048'576u);
  EXPECT_EQ(kafka.refresh_ms, 70u);
  EXPECT_EQ(kafka.commit_ms, 80u);
  EXPECT_EQ(kafka.properties.at("security.protocol"), "ssl");
}

TEST(KafkaConfigTest, IdsTimesAndBytesOfATopic) {
  Config config;
  const Status status = ReadConfig(R"({"kafka":{"brokers":"a:1","topics":[
      {"topic":"a","user":"@key","item":"/@key","at":"t","at_unit":"us","time_zone":"Asia/Tokyo",
       "framing":"confluent"},
      {"topic":"b","user":"@header:uid","item":"@id","at":"@timestamp","at_unit":"ns"}]}})",
                                   &config);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const KafkaTopic& a = config.kafka->topics[0];
  EXPECT_TRUE(a.user_place.key);
  EXPECT_EQ(a.user, Path{});
  EXPECT_FALSE(a.item_place);
  EXPECT_EQ(a.item, Path{"@key"});
  EXPECT_EQ(a.at_unit, AtUnit::kMicros);
  EXPECT_EQ(a.time_zone, "Asia/Tokyo");
  EXPECT_EQ(a.framing, Framing::kConfluent);
  const KafkaTopic& b = config.kafka->topics[1];
  EXPECT_EQ(b.user_place.header, "uid");
  EXPECT_EQ(b.item, Path{"@id"});
  EXPECT_EQ(b.at, Path{"@timestamp"});
  EXPECT_EQ(b.at_unit, AtUnit::kNanos);
  EXPECT_EQ(b.framing, Framing::kNone);
}

TEST(KafkaConfigTest, FactsAndMarks) {
  Config config;
  const Status status = ReadConfig(R"({"kafka":{"brokers":"a:1","topics":[
      {"topic":"p","fact":"played","device":"d","of":"by","same_as":"/source/of"},{"topic":"s","fact":"served","surface":"page"},
      {"topic":"e","fact":"exposed","surface":"/page/name"},{"topic":"m","fact":"mark"},
      {"topic":"n","fact":"mark","group":"channel","until":"/read/to"}]}})",
                                   &config);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::vector<KafkaTopic>& topics = config.kafka->topics;
  EXPECT_EQ(topics[0].fact, Fact::kPlayed);
  EXPECT_EQ(topics[0].of, Path{"by"});
  EXPECT_EQ(topics[0].same_as, (Path{"source", "of"}));
  EXPECT_EQ(topics[1].fact, Fact::kServed);
  EXPECT_EQ(topics[1].surface, Path{"page"});
  EXPECT_EQ(topics[2].fact, Fact::kExposed);
  EXPECT_EQ(topics[2].surface, (Path{"page", "name"}));
  EXPECT_FALSE(topics[2].marks);
  EXPECT_TRUE(topics[3].marks);
  EXPECT_EQ(topics[3].item, Path{});
  EXPECT_EQ(topics[3].group, Path{"group"});
  EXPECT_EQ(topics[3].until, Path{"until"});
  EXPECT_EQ(topics[4].group, Path{"channel"});
  EXPECT_EQ(topics[4].until, (Path{"read", "to"}));
}

TEST(KafkaConfigTest, UpdatesOfItemsHaveNoUserAndNoCollection) {
  Config config;
  const Status status = ReadConfig(R"({"items":{"lag_ms":5000},"kafka":{"brokers":"a:1","topics":[
      {"topic":"p"},{"topic":"i","fact":"item","framing":"confluent","gaps":"expected"}]}})",
                                   &config);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(config.items.lag_ms, 5'000);
  EXPECT_TRUE(HasItemTopics(*config.kafka));
  EXPECT_FALSE(config.kafka->topics[0].items);
  const KafkaTopic& items = config.kafka->topics[1];
  EXPECT_TRUE(items.items && items.gaps_expected);
  EXPECT_FALSE(items.marks);
  EXPECT_EQ(items.collection, "");
  EXPECT_EQ(items.user, Path{});
  EXPECT_EQ(items.item, Path{});
  EXPECT_EQ(items.framing, Framing::kConfluent);
  config.kafka->topics.pop_back();
  EXPECT_FALSE(HasItemTopics(*config.kafka));
  Config none;
  const Status refused = ReadConfig(R"({"items":{"bytes":0},"kafka":{"brokers":"a:1","topics":[
      {"topic":"p"},{"topic":"i","fact":"item"}]}})",
                                    &none);
  EXPECT_EQ(refused.field(), "/kafka/topics/1/fact");
}

TEST(KafkaConfigTest, FewKeysAreNeeded) {
  Config config;
  ASSERT_TRUE(ReadConfig(R"({"kafka":{"brokers":"a:1","partitions":"all","start":"latest",
                             "topics":[{"topic":"t"}]}})",
                         &config)
                  .ok());
  EXPECT_EQ(config.kafka->start, KafkaStart::kLatest);
  EXPECT_EQ(config.kafka->partitions, std::nullopt);
  EXPECT_EQ(config.kafka->topics[0].collection, "default");
  Config without;
  ASSERT_TRUE(ReadConfig("{}", &without).ok());
  EXPECT_EQ(without.kafka, std::nullopt) << "nothing is consumed unless asked for";
}

TEST(KafkaConfigTest, NamesWhatItRefuses) {
  const auto field = [](const std::string& kafka) {
    Config config;
    const Status status = ReadConfig("{\"kafka\":" + kafka + "}", &config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << kafka;
    EXPECT_FALSE(config.kafka.has_value()) << kafka;
    return std::string(status.field());
  };
  const auto with = [&](const std::string& more) {
    return field(R"({"brokers":"a:1","topics":[{"topic":"t"}],)" + more + "}");
  };
  const auto topic = [&](const std::string& members) {
    return field(R"({"brokers":"a:1","topics":[{)" + members + "}]}");
  };
  EXPECT_EQ(field("3"), "/kafka");
  EXPECT_EQ(field("{}"), "/kafka/topics");
  EXPECT_EQ(field(R"({"brokers":"a:1"})"), "/kafka/topics");
  EXPECT_EQ(field(R"({"brokers":"","topics":[{"topic":"t"}]})"), "/kafka/brokers");
  EXPECT_EQ(field(R"({"brokers":"a:1","topics":[]})"), "/kafka/topics");
  EXPECT_EQ(field(R"({"brokers":"a:1","topics":[{"topic":"t"},{"topic":"t"}]})"),
            "/kafka/topics/1/topic");
  EXPECT_EQ(with(R"("broker":1)"), "/kafka/broker");
  EXPECT_EQ(with(R"("start":"newest")"), "/kafka/start");
  EXPECT_EQ(with(R"("start":-1)"), "/kafka/start");
  EXPECT_EQ(with(R"("partitions":[])"), "/kafka/partitions");
  EXPECT_EQ(with(R"("partitions":[1,1])"), "/kafka/partitions");
  EXPECT_EQ(with(R"("partitions":[-1])"), "/kafka/partitions");
  EXPECT_EQ(with(R"("batch_messages":0)"), "/kafka/batch_messages");
  EXPECT_EQ(with(R"("message_bytes":0)"), "/kafka/message_bytes");
  EXPECT_EQ(with(R"("queued_bytes":1)"), "/kafka/queued_bytes");
  EXPECT_EQ(with(R"("refresh_ms":1)"), "/kafka/refresh_ms");
  EXPECT_EQ(with(R"("properties":{"enable.auto.commit":"true"})"),
            "/kafka/properties/enable.auto.commit");
  EXPECT_EQ(with(R"("properties":{"retries":3})"), "/kafka/properties/retries");
  EXPECT_EQ(with(R"("properties":{"plugin.library.paths":"some"})"),
            "/kafka/properties/plugin.library.paths");
  EXPECT_EQ(with(R"("dead_letter_topic":"t")"), "/kafka/dead_letter_topic");
  EXPECT_EQ(with(R"("dead_letter_topic":"a b")"), "/kafka/dead_letter_topic");
  EXPECT_EQ(with(R"("dead_letter_topic":"d","dead_letter_file":"f")"), "/kafka/dead_letter_file");
  EXPECT_EQ(topic(R"("collection":"c")"), "/kafka/topics/0/topic");
  EXPECT_EQ(topic(R"("topic":"a/b")"), "/kafka/topics/0/topic");
  EXPECT_EQ(topic(R"("topic":"t","kind":"likes")"), "/kafka/topics/0/kind");
  EXPECT_EQ(topic(R"("topic":"t","fact":"liked")"), "/kafka/topics/0/fact");
  EXPECT_EQ(topic(R"("topic":"t","fact":"played","kind":"plays")"), "/kafka/topics/0/kind");
  EXPECT_EQ(topic(R"("topic":"t","fact":"exposed","day":"d")"), "/kafka/topics/0/day");
  EXPECT_EQ(topic(R"("topic":"t","fact":"mark","of":"o")"), "/kafka/topics/0/of");
  EXPECT_EQ(topic(R"("topic":"t","fact":"mark","same_as":"o")"), "/kafka/topics/0/same_as");
  EXPECT_EQ(topic(R"("topic":"t","of":"g","same_as":"g")"), "/kafka/topics/0/same_as");
  EXPECT_EQ(topic(R"("topic":"t","surface":"s")"), "/kafka/topics/0/surface");
  EXPECT_EQ(topic(R"("topic":"t","fact":"exposed","surface":"item")"), "/kafka/topics/0/surface");
  EXPECT_EQ(topic(R"("topic":"t","fact":"exposed","group":"g")"), "/kafka/topics/0/group");
  EXPECT_EQ(topic(R"("topic":"t","fact":"mark","item":"item")"), "/kafka/topics/0/item");
  for (const char* member : {"collection", "item", "at", "surface", "first_of_day_topic"}) {
    EXPECT_EQ(topic(R"("topic":"t","fact":"item",")" + std::string(member) + R"(":"x")"),
              "/kafka/topics/0/" + std::string(member));
  }
  EXPECT_EQ(topic(R"("topic":"t","fact":"mark","surface":"s")"), "/kafka/topics/0/surface");
  EXPECT_EQ(topic(R"("topic":"t","fact":"mark","until":"group")"), "/kafka/topics/0/until");
  EXPECT_EQ(topic(R"("topic":"t","fact":"mark","device":"d")"), "/kafka/topics/0/device");
  EXPECT_EQ(topic(R"("topic":"t","users":"u")"), "/kafka/topics/0/users");
  EXPECT_EQ(topic(R"("topic":"t","user":"")"), "/kafka/topics/0/user");
  EXPECT_EQ(topic(R"("topic":"t","user":"/a//b")"), "/kafka/topics/0/user");
  EXPECT_EQ(topic(R"("topic":"t","user":"/a~2")"), "/kafka/topics/0/user");
  EXPECT_EQ(topic(R"("topic":"t","user":"/e","item":"/e/id")"), "/kafka/topics/0/item");
  EXPECT_EQ(topic(R"("topic":"t","at":"user")"), "/kafka/topics/0/at");
  EXPECT_EQ(topic(R"("topic":"t","at":"when","at_unit":"min")"), "/kafka/topics/0/at_unit");
  EXPECT_EQ(topic(R"("topic":"t","time_zone":"Mars/Olympus")"), "/kafka/topics/0/time_zone");
  EXPECT_EQ(topic(R"("topic":"t","framing":"avro")"), "/kafka/topics/0/framing");
  EXPECT_EQ(topic(R"("topic":"t","user":"@header:")"), "/kafka/topics/0/user");
  EXPECT_EQ(topic(R"("topic":"t","user":"@key","item":"@key")"), "/kafka/topics/0/item");
  EXPECT_EQ(topic(R"("topic":"t","gaps":true)"), "/kafka/topics/0/gaps");
  EXPECT_EQ(topic(R"("topic":"t","progress_s":7)"), "/kafka/topics/0/progress_s");
  EXPECT_EQ(topic(R"("topic":"t","duration_s":"/p","device":"/p/d")"), "/kafka/topics/0/device");
  EXPECT_EQ(topic(R"("topic":"t","fields":"item")"), "/kafka/topics/0/fields");
  EXPECT_EQ(topic(R"("topic":"t","kind":"impressions","fields":"f")"), "/kafka/topics/0/fields");
  EXPECT_EQ(topic(R"("topic":"t","day":"user")"), "/kafka/topics/0/day");
  EXPECT_EQ(topic(R"("topic":"t","kind":"impressions","day":"d")"), "/kafka/topics/0/day");
  EXPECT_EQ(topic(R"("topic":"t","kind":"impressions","first_of_day_topic":"f")"),
            "/kafka/topics/0/first_of_day_topic");
  EXPECT_EQ(topic(R"("topic":"t","first_of_day_topic":"t")"), "/kafka/topics/0/first_of_day_topic");
  EXPECT_EQ(topic(R"("topic":"t","first_of_day_topic":"")"), "/kafka/topics/0/first_of_day_topic");
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
