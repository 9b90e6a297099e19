// The object "cluster" of the config file.

#include "ops/cluster_config.h"

#include <gtest/gtest.h>

#include "ops/config.h"

namespace seendb::ops {
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
      {R"({"cluster":{"backup_dir":"/b"}})", "/cluster/backup_dir"},
      {R"({"cluster":{"properties":{"group.id":"g"}}})", "/cluster/properties/group.id"},
      {R"({"cluster":{"brokers":"a:1","name":"x","advertise":"http://h:1","secret_file":"s"},
           "kafka":{"brokers":"a:1","topics":[{"topic":"t"}]}})",
       "/kafka"},
  };
  for (const auto& one : kCases) {
    Config config;
    const Status status = ReadConfig(one.json, &config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << one.json;
    EXPECT_EQ(status.field(), one.field) << one.json << status.ToString();
  }
}

}  // namespace
}  // namespace seendb::ops
