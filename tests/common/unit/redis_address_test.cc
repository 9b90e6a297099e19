#include <gtest/gtest.h>

#include "redis/address.h"

namespace seendb::redis::SEENDB_TEST_FILE {
namespace {

Address Parsed(std::string_view url) { return ParseAddress(url, "--redis").value(); }

std::string Refused(std::string_view url) {
  const auto parsed = ParseAddress(url, "--redis");
  return parsed.ok() ? "taken" : std::string(parsed.status().message());
}

TEST(RedisAddress, OfTcp) {
  const Address plain = Parsed("redis://cache.example");
  EXPECT_EQ(plain.target.host, "cache.example");
  EXPECT_EQ(plain.target.port, "6379");
  EXPECT_FALSE(plain.target.secure);
  EXPECT_EQ(plain.database, 0u);
  EXPECT_EQ(plain.ToText(), "redis://cache.example:6379");
  const Address all = Parsed("rediss://reader:s3cret@[::1]:6380/7");
  EXPECT_EQ(all.target.host, "::1");
  EXPECT_EQ(all.target.port, "6380");
  EXPECT_TRUE(all.target.secure);
  EXPECT_EQ(all.user, "reader");
  EXPECT_EQ(all.password, "s3cret");
  EXPECT_EQ(all.database, 7u);
  EXPECT_EQ(all.ToText(), "rediss://[::1]:6380/7");
}

TEST(RedisAddress, PasswordsInTheFormsThatRedisUses) {
  EXPECT_EQ(Parsed("redis://:pw@h").password, "pw");
  EXPECT_EQ(Parsed("redis://:pw@h").user, "");
  EXPECT_EQ(Parsed("redis://pw@h").password, "pw");
  EXPECT_EQ(Parsed("redis://u:p%40%3A%2f@h").password, "p@:/");
  EXPECT_EQ(Parsed("redis://u:p@ss@h").password, "p@ss");
  EXPECT_EQ(Parsed("redis://u:p@ss@h").target.host, "h");
}

TEST(RedisAddress, OfASocket) {
  EXPECT_EQ(Parsed("unix:/run/redis.sock").target.unix_path, "/run/redis.sock");
  EXPECT_EQ(Parsed("unix:///run/redis.sock?db=3").database, 3u);
  EXPECT_EQ(Parsed("unix:///run/redis.sock?db=3").ToText(), "unix:/run/redis.sock?db=3");
}

TEST(RedisAddress, WhatIsWrongIsSaidWithoutThePassword) {
  for (const char* const url :
       {"http://u:s3cret@h", "redis://u:s3cret@", "redis://u:s3cret@h:0", "redis://u:s3cret@h:x",
        "redis://u:s3cret@h/db", "redis://u:s3cret%4@h", "redis://u:s3cret@[::1",
        "redis://u:s3cret@h:65536", "unix:", "unix:/a?database=3", ""}) {
    const std::string why = Refused(url);
    EXPECT_TRUE(why.starts_with("--redis: ")) << url << ": " << why;
    EXPECT_EQ(why.find("s3cret"), std::string::npos) << why;
  }
}

TEST(RedisAddress, CredentialsAreHiddenInText) {
  EXPECT_EQ(HideCredentials("seendb --redis redis://u:s3cret@h:1 --x 'rediss://p@ss@h' redis://h"),
            "seendb --redis redis://h:1 --x 'rediss://h' redis://h");
  EXPECT_EQ(HideCredentials("mail a@b, https://x@y"), "mail a@b, https://x@y");
  EXPECT_EQ(HideCredentials("redis"), "redis");
  EXPECT_EQ(HideCredentials(""), "");
}

TEST(RedisSlot, AsTheClusterSpecificationSays) {
  EXPECT_EQ(SlotOf("123456789"), 0x31C3 % kSlots);
  EXPECT_EQ(SlotOf("foo"), 12182);
  EXPECT_EQ(SlotOf("{user1000}.following"), SlotOf("{user1000}.followers"));
  EXPECT_EQ(SlotOf("foo{bar}{zap}"), SlotOf("bar"));
  EXPECT_EQ(SlotOf("foo{{bar}}zap"), SlotOf("{bar"));
  EXPECT_NE(SlotOf("foo{}{bar}"), SlotOf("bar"));
  EXPECT_NE(SlotOf("foo{bar"), SlotOf("bar"));
}

}  // namespace
}  // namespace seendb::redis::SEENDB_TEST_FILE
