// The setting "audit".

#include "ops/audit_config.h"

#include <string>

#include <gtest/gtest.h>

#include "ops/config.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

constexpr const char* kKey = R"("access_log": {"user_key": "000102030405060708090a0b0c0d0e0f"}, )";

TEST(AuditConfigTest, ThereIsNoneByDefault) {
  Config config;
  ASSERT_TRUE(ReadConfig("{}", &config).ok());
  EXPECT_FALSE(config.audit);
}

TEST(AuditConfigTest, ReadsItsKeys) {
  Config config;
  ASSERT_TRUE(ReadConfig(std::string("{") + kKey + R"("audit": {"file": "/a"}})", &config).ok());
  ASSERT_TRUE(config.audit);
  EXPECT_EQ(config.audit->file, "/a");
  EXPECT_FALSE(config.audit->clear_users);
  EXPECT_FALSE(config.audit->waits);
  ASSERT_TRUE(
      ReadConfig(R"({"audit": {"file": "/b", "users": "clear", "on_failure": "wait"}})", &config)
          .ok());
  EXPECT_TRUE(config.audit->clear_users);
  EXPECT_TRUE(config.audit->waits);
}

TEST(AuditConfigTest, WhatIsWrongIsNamed) {
  const auto field_of = [](const std::string& json) {
    Config config;
    return std::string(ReadConfig(json, &config).field());
  };
  EXPECT_EQ(field_of(R"({"audit": {}})"), "/audit/file");
  EXPECT_EQ(field_of(R"({"audit": {"file": ""}})"), "/audit/file");
  EXPECT_EQ(field_of(R"({"audit": {"file": "/a", "users": "plain"}})"), "/audit/users");
  EXPECT_EQ(field_of(R"({"audit": {"file": "/a", "on_failure": "drop"}})"), "/audit/on_failure");
  EXPECT_EQ(field_of(R"({"audit": {"path": "/a"}})"), "/audit/path");
  // Hashes of a key of each start say nothing over two of them.
  EXPECT_EQ(field_of(R"({"audit": {"file": "/a"}})"), "/access_log/user_key");
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
