// The setting "consul".

#include "ops/consul_config.h"

#include <gtest/gtest.h>

#include "ops/config.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using ops::Config;
using ops::ReadConfig;

TEST(ConsulConfig, IsUnsetUnlessNamedAndHasDefaults) {
  Config config;
  ASSERT_TRUE(ReadConfig("{}", &config).ok());
  EXPECT_FALSE(config.consul.has_value());
  ASSERT_TRUE(ReadConfig(R"({"consul": {}})", &config).ok());
  ASSERT_TRUE(config.consul.has_value());
  EXPECT_EQ(config.consul->url, "http://127.0.0.1:8500");
  EXPECT_EQ(config.consul->service, "seendb");
  EXPECT_EQ(config.consul->check_interval_s, 10u);
  EXPECT_EQ(config.consul->forget_after_s, 600u);
  EXPECT_FALSE(config.consul->check_connects);
}

TEST(ConsulConfig, NamesWhatIsWrong) {
  const auto field_of = [](const std::string& section) {
    Config config;
    return std::string(ReadConfig(R"({"consul": )" + section + "}", &config).field());
  };
  EXPECT_EQ(field_of(R"({"url": "consul:8500"})"), "/consul/url");
  EXPECT_EQ(field_of(R"({"service": "a b"})"), "/consul/service");
  EXPECT_EQ(field_of(R"({"id": "a/b"})"), "/consul/id");
  EXPECT_EQ(field_of(R"({"advertise": "host"})"), "/consul/advertise");
  EXPECT_EQ(field_of(R"({"check_address": 7})"), "/consul/check_address");
  EXPECT_EQ(field_of(R"({"check": "http"})"), "/consul/check");
  EXPECT_EQ(field_of(R"({"tags": ["a", ""]})"), "/consul/tags/1");
  EXPECT_EQ(field_of(R"({"forget_after_s": 59})"), "/consul/forget_after_s");
  EXPECT_EQ(field_of(R"({"port": 1})"), "/consul/port");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
