// Files that say who may do what, and who may write them.

#include "ops/secret_files.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ops/config.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

constexpr fs::perms kOwners = fs::perms::owner_read | fs::perms::owner_write;

class SecretFilesTest : public testing::Test {
 protected:
  SecretFilesTest() : path_(testing::TempDir() + "secret_files_test." + std::to_string(getpid())) {}
  ~SecretFilesTest() override { fs::remove(path_); }

  void Write(const std::string& text, fs::perms more = fs::perms::none) const {
    std::ofstream(path_) << text;
    fs::permissions(path_, kOwners | more);
  }

  const std::string path_;
};

TEST_F(SecretFilesTest, OthersMayNotWriteThem) {
  for (const fs::perms more : {fs::perms::group_write, fs::perms::others_write}) {
    Write("x", more);
    const Status refused = CheckWriters(path_);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(refused.message().find("chmod go-w " + path_), std::string::npos);
    Config config;
    config.tokens_file = path_;
    EXPECT_EQ(CheckSecretFiles(config).field(), "/tokens_file");
    config.tokens_file.clear();
    config.cluster.emplace().secret_file = path_;
    EXPECT_EQ(CheckSecretFiles(config).field(), "/cluster/secret_file");
    config.cluster.reset();
    config.tls.emplace().key = path_;
    EXPECT_EQ(CheckSecretFiles(config).field(), "/tls/key");
    config.tls.reset();
    config.migration.emplace_back().collection = "a/b";
    config.migration.back().password_file = path_;
    EXPECT_EQ(CheckSecretFiles(config).field(), "/migration/a~1b/redis_password_file");
  }
  Write("x", fs::perms::group_read | fs::perms::others_read);
  EXPECT_TRUE(CheckWriters(path_).ok());
  Config config;
  config.tokens_file = path_;
  EXPECT_TRUE(CheckSecretFiles(config).ok());
  config.tokens_file = path_ + ".absent";
  EXPECT_TRUE(CheckSecretFiles(config).ok()) << "it may be made later";
  EXPECT_EQ(CheckWriters(path_ + ".absent").code(), StatusCode::kIOError);
}

TEST_F(SecretFilesTest, ThatEverybodyReadsAreWarnedOf) {
  Write("x", fs::perms::group_read);
  EXPECT_EQ(ReadableByEverybody(path_), "");
  Write("x", fs::perms::others_read);
  EXPECT_NE(ReadableByEverybody(path_).find("chmod o-r " + path_), std::string::npos);
}

TEST_F(SecretFilesTest, SettingsWithASecretAreRefusedLikewise) {
  struct Case {
    const char* json;
    const char* secret;
  };
  const std::string cluster =
      R"({"cluster":{"brokers":"a:1","name":"x","advertise":"http://h:1","secret_file":"s",)";
  const std::string of_cluster = cluster + R"("properties":{"sasl.password":"x"}}})";
  for (const Case& one : {
           Case{R"({"engine":{"item_hash_key":"000102030405060708090a0b0c0d0e0f"}})",
                "/engine/item_hash_key"},
           Case{R"({"access_log":{"user_key":"000102030405060708090a0b0c0d0e0f"}})",
                "/access_log/user_key"},
           Case{R"({"kafka":{"brokers":"a:1","topics":[{"topic":"t"}],
                    "properties":{"sasl.username":"u","sasl.password":"x"}}})",
                "/kafka/properties/sasl.password"},
           Case{R"({"kafka":{"brokers":"a:1","topics":[{"topic":"t"}],
                    "properties":{"ssl.key.pem":"x"}}})",
                "/kafka/properties/ssl.key.pem"},
           Case{of_cluster.c_str(), "/cluster/properties/sasl.password"},
           Case{R"({"migration":{"v":{"redis":"redis://:x@h","key":"w:{user}"}}})",
                "/migration/v/redis"},
       }) {
    Write(one.json);
    Config config;
    const Status taken = ReadAllSettings(path_, {}, {}, &config);
    EXPECT_TRUE(taken.ok()) << taken.ToString();
    EXPECT_EQ(WrittenSecret(config.given.document), one.secret);
    Write(one.json, fs::perms::others_write);
    Config refused;
    const Status status = ReadAllSettings(path_, {}, {}, &refused);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << one.json;
    EXPECT_EQ(status.field(), one.secret);
    EXPECT_NE(status.message().find("chmod go-w " + path_), std::string::npos);
  }
}

TEST_F(SecretFilesTest, SettingsWithoutOneMayBeAnybodys) {
  Write(R"({"kafka":{"brokers":"a:1","topics":[{"topic":"t"}],
            "properties":{"sasl.username":"u","ssl.ca.location":"/ca.pem"}},
            "migration":{"v":{"redis":"redis://h","key":"w:{user}"}}})",
        fs::perms::others_write | fs::perms::group_write);
  Config config;
  EXPECT_TRUE(ReadAllSettings(path_, {}, {}, &config).ok());
  EXPECT_EQ(WrittenSecret(config.given.document), "");
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
