// The settings "migration".

#include <gtest/gtest.h>

#include "ops/config.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

Status ReadMigration(const std::string& settings, Config* config) {
  return ReadConfig(R"({"migration": {"video": )" + settings + "}}", config);
}

TEST(MigrationConfigTest, ReadsEveryKey) {
  Config config;
  const Status status = ReadMigration(
      R"({"redis": "rediss://u:p@h:1/2", "redis_password_file": "/p", "redis_ca": "/c",
          "key": "w:{user}", "score_unit": "us", "until_migrated": "degraded", "budget_ms": 7,
          "dual_write": true, "cap": 10, "queue_bytes": 2000000, "shadow": 0.25})",
      &config);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(config.migration.size(), 1u);
  const MigrationConfig& one = config.migration[0];
  EXPECT_EQ(one.collection, "video");
  EXPECT_EQ(one.redis, "rediss://u:p@h:1/2");
  EXPECT_EQ(one.password_file, "/p");
  EXPECT_EQ(one.ca, "/c");
  EXPECT_EQ(one.key, "w:{user}");
  EXPECT_EQ(one.score_unit, "us");
  EXPECT_EQ(one.until_migrated, UntilMigrated::kDegraded);
  EXPECT_EQ(one.budget_ms, 7);
  EXPECT_TRUE(one.dual_write);
  EXPECT_EQ(one.cap, 10);
  EXPECT_EQ(one.queue_bytes, 2'000'000u);
  EXPECT_EQ(one.shadow, 0.25);
}

TEST(MigrationConfigTest, Defaults) {
  Config config;
  ASSERT_TRUE(ReadMigration(R"({"redis": "redis://h", "key": "w:{user}"})", &config).ok());
  const MigrationConfig& one = config.migration.at(0);
  EXPECT_EQ(one.until_migrated, UntilMigrated::kOldStore);
  EXPECT_EQ(one.budget_ms, 5);
  EXPECT_FALSE(one.dual_write);
  EXPECT_EQ(one.score_unit, "s");
  EXPECT_EQ(one.shadow, 0);
}

TEST(MigrationConfigTest, ARefusalNamesTheKeyAndNoPassword) {
  const std::pair<const char*, const char*> kRefused[] = {
      {R"({"key": "w:{user}"})", "/migration/video/redis"},
      {R"({"redis": "redis://h"})", "/migration/video/key"},
      {R"({"redis": "redis://:secret@h:port", "key": "w:{user}"})", "/migration/video/redis"},
      {R"({"redis": "redis://:secret@h", "key": "w"})", "/migration/video/key"},
      {R"({"redis": "redis://:secret@h", "key": "w:{user}", "dual_write": true})",
       "/migration/video/cap"},
      {R"({"redis": "redis://:secret@h", "key": "w:{user}", "budget_ms": 60001})",
       "/migration/video/budget_ms"},
      {R"({"redis": "redis://:secret@h", "key": "w:{user}", "until": "x"})",
       "/migration/video/until"},
  };
  for (const auto& [settings, field] : kRefused) {
    Config config;
    const Status status = ReadMigration(settings, &config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << settings;
    EXPECT_EQ(status.field(), field) << settings;
    EXPECT_EQ(status.ToString().find("secret"), std::string::npos) << status.ToString();
  }
  Config config;
  EXPECT_EQ(ReadConfig(R"({"migration": {"a/b": {}}})", &config).field(), "/migration/a~1b");
}

TEST(MigrationConfigTest, MalformedJsonShowsNoPassword) {
  Config config;
  const Status status =
      ReadMigration("{\"redis\": \"redis://user:secret\n@h\", \"key\": \"w:{user}\"}", &config);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.ToString().find("secret"), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
