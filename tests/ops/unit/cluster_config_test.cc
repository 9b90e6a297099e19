// The object "cluster" of the config file.

#include "ops/cluster_config.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "ops/config.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

TEST(ClusterConfigTest, ReadsEveryKey) {
  Config config;
  const Status status = ReadConfig(R"({"cluster": {
    "brokers": "a:1,b:2", "name": "feed", "node": "n1", "advertise": "http://10.0.0.1:7373",
    "zone": "a", "weight": 2.5, "secret_file": "/etc/seendb/secret", "transfer_mb_per_s": 250,
    "properties": {"security.protocol": "ssl"}}})",
                                   &config);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(config.cluster.has_value());
  const ClusterConfig& cluster = *config.cluster;
  EXPECT_EQ(cluster.brokers, "a:1,b:2");
  EXPECT_EQ(cluster.name, "feed");
  EXPECT_EQ(cluster.node, "n1");
  EXPECT_EQ(cluster.advertise, "http://10.0.0.1:7373");
  EXPECT_EQ(cluster.zone, "a");
  EXPECT_EQ(cluster.weight, 2.5);
  EXPECT_EQ(cluster.transfer_mb_per_s, 250U);
  EXPECT_EQ(cluster.secret_file, "/etc/seendb/secret");
  EXPECT_EQ(cluster.properties.at("security.protocol"), "ssl");
}

TEST(ClusterConfigTest, ANodeTellsThatItLeavesBeforeItDoes) {
  const auto delay_ms = [](const std::string& more) {
    Config config;
    const Status status = ReadConfig("{" + more + "}", &config);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return config.limits.shutdown_delay_ms;
  };
  const std::string cluster =
      R"("cluster":{"brokers":"a:1","name":"feed","advertise":"http://h:1","secret_file":"s"})";
  EXPECT_EQ(delay_ms(""), 0);
  EXPECT_EQ(delay_ms(cluster), 2'000);
  EXPECT_EQ(delay_ms(cluster + R"(,"limits":{"queue":9})"), 2'000);
  EXPECT_EQ(delay_ms(cluster + R"(,"limits":{"shutdown_delay_ms":0})"), 0);
}

TEST(ClusterConfigTest, FewKeysAreNeeded) {
  Config config;
  ASSERT_TRUE(ReadConfig(R"({"cluster":{"brokers":"a:1","name":"feed","advertise":"http://h:1",
                             "secret_file":"s"}})",
                         &config)
                  .ok());
  EXPECT_EQ(config.cluster->node, "");
  EXPECT_EQ(config.cluster->zone, "");
  EXPECT_EQ(config.cluster->weight, 1);
  EXPECT_EQ(config.cluster->transfer_mb_per_s, 100U);
}

TEST(ClusterConfigTest, OtherNodesReachItAsItListens) {
  const std::string cluster = R"({"cluster":{"brokers":"a:1","name":"feed","secret_file":"s",)";
  const std::string tls = R"(},"tls":{"certificate":"c.pem","key":"k.pem"}})";
  Config config;
  ASSERT_TRUE(
      ReadConfig(cluster + R"("ca":"/etc/ca.pem","advertise":"https://h:1")" + tls, &config).ok());
  EXPECT_EQ(config.cluster->ca, "/etc/ca.pem");
  Config plain;
  ASSERT_TRUE(ReadConfig(cluster + R"("advertise":"http://h:1"}})", &plain).ok());
  EXPECT_EQ(plain.cluster->ca, "");
  for (const std::string& wrong : {cluster + R"("advertise":"https://h:1"}})",
                                   cluster + R"("advertise":"http://h:1")" + tls}) {
    Config refused;
    const Status status = ReadConfig(wrong, &refused);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << wrong;
    EXPECT_EQ(status.field(), "/cluster/advertise") << wrong;
  }
}

TEST(ClusterConfigTest, RefusesByKey) {
  const struct {
    const char* json;
    const char* field;
  } kCases[] = {
      {R"({"cluster":1})", "/cluster"},
      {R"({"cluster":{}})", "/cluster/brokers"},
      {R"({"cluster":{"brokers":"a:1"}})", "/cluster/name"},
      {R"({"cluster":{"brokers":"a:1","name":"x"}})", "/cluster/advertise"},
      {R"({"cluster":{"brokers":"a:1","name":"x","advertise":"http://h:1"}})",
       "/cluster/secret_file"},
      {R"({"cluster":{"weight":0}})", "/cluster/weight"},
      {R"({"cluster":{"transfer_mb_per_s":0}})", "/cluster/transfer_mb_per_s"},
      {R"({"cluster":{"weight":"1"}})", "/cluster/weight"},
      {R"({"cluster":{"backup_dir":1}})", "/cluster/backup_dir"},
      {R"({"cluster":{"properties":{"group.id":"g"}}})", "/cluster/properties/group.id"},
  };
  for (const auto& one : kCases) {
    Config config;
    const Status status = ReadConfig(one.json, &config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << one.json;
    EXPECT_EQ(status.field(), one.field) << one.json << status.ToString();
  }
}

Status ReadNode(const std::string& kafka, Config* config) {
  return ReadConfig(
      R"({"cluster":{"brokers":"a:1","name":"x","advertise":"http://h:1","secret_file":"s",
          "properties":{"sasl.username":"u","client.id":"c"}},"kafka":)" +
          kafka + "}",
      config);
}

TEST(ClusterConfigTest, OtherTopicsAreOfItsBrokersUnlessOthersAreNamed) {
  Config config;
  Status status = ReadNode(R"({"topics":[{"topic":"t"}],"start":"earliest",
                               "properties":{"client.id":"d"}})",
                           &config);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(config.kafka->brokers, "a:1");
  EXPECT_EQ(config.kafka->properties,
            (std::map<std::string, std::string>{{"sasl.username", "u"}, {"client.id", "d"}}));
  Config other;
  status = ReadNode(R"({"brokers":"b:1","topics":[{"topic":"t"}],"start":1})", &other);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(other.kafka->brokers, "b:1");
  EXPECT_TRUE(other.kafka->properties.empty());
}

TEST(ClusterConfigTest, WhatNodesCannotConsumeIsRefused) {
  struct Case {
    const char *kafka, *field;
  };
  const Case kCases[] = {
      {R"({"topics":[{"topic":"t"}],"start":"latest"})", "/kafka/start"},
      {R"({"topics":[{"topic":"t"}],"partitions":[1]})", "/kafka/partitions"},
      {R"({"topics":[{"topic":"t"},{"topic":"x.log"}]})", "/kafka/topics/1/topic"},
      {R"({"topics":[{"topic":"x.meta"}]})", "/kafka/topics/0/topic"},
      {R"({"topics":[{"topic":"t","first_of_day_topic":"x.log"}]})",
       "/kafka/topics/0/first_of_day_topic"},
      {R"({"topics":[{"topic":"t"}],"dead_letter_topic":"x.log"})", "/kafka/dead_letter_topic"},
      {R"({"topics":[{"topic":"t"},{"topic":"e","fact":"exposed"}]})", "/kafka/topics/1/fact"},
      {R"({"topics":[{"topic":"m","fact":"mark"}]})", "/kafka/topics/0/fact"},
      {R"({"topics":[{"topic":"i","fact":"item"}]})", "/kafka/topics/0/fact"},
      {R"({"topics":[{"topic":"s","fact":"served","surface":"p"}]})", "/kafka/topics/0/surface"},
      {R"({"topics":[{"topic":"p","of":"o"}]})", "/kafka/topics/0/of"},
      {R"({"topics":[{"topic":"p","same_as":"o"}]})", "/kafka/topics/0/same_as"},
  };
  for (const auto& one : kCases) {
    Config config;
    const Status status = ReadNode(one.kafka, &config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << one.kafka;
    EXPECT_EQ(status.field(), one.field) << one.kafka << status.ToString();
  }
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
