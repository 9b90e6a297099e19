// Settings by variables of the environment: their names, how values are written, what wins.

#include "ops/environment.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "ops/config.h"
#include "support/seed.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

class EnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Status Read(const Variables& variables, const std::string& file = {},
              const FlagValues& flags = {}) {
    config_ = {};
    return ReadAllSettings(file, variables, flags, &config_);
  }
  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }

  const std::string folder_ = ::testing::TempDir() + "environment_test." + std::to_string(getpid());
  Config config_;
};

TEST_F(EnvironmentTest, NamesFollowTheKeys) {
  const Status status = Read({{"SEENDB_DB", "/d"},
                              {"SEENDB_LISTEN", "127.0.0.1:1"},
                              {"SEENDB_ENGINE_SHARDS", "7"},
                              {"SEENDB_LIMITS_BODY_BYTES", "2048"},
                              {"SEENDB_REQUIRE_SECURE", "true"},
                              {"SEENDB_ENGINE_MAINTENANCE", "01:00-02:30"},
                              {"SEENDB_LOG_LEVEL", "warn"},
                              {"SEENDB_ADMISSION_DEGRADE_MIN_SHARE", "0.5"}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(config_.db, "/d");
  EXPECT_EQ(config_.listen, "127.0.0.1:1");
  EXPECT_EQ(config_.engine.shards, 7u);
  EXPECT_EQ(config_.limits.body_bytes, 2048u);
  EXPECT_TRUE(config_.require_secure);
  EXPECT_EQ(config_.engine.maintenance_end_minute, 150);
  EXPECT_EQ(config_.log_level, "warn");
  EXPECT_EQ(config_.admission.degrade_min_share, 0.5);
  EXPECT_TRUE(config_.given.unknown.empty());
}

TEST_F(EnvironmentTest, TextsAreTakenAsTheyAre) {
  ASSERT_TRUE(Read({{"SEENDB_DB", "123"}, {"SEENDB_CHECKPOINTS", "true"}}).ok());
  EXPECT_EQ(config_.db, "123");
  EXPECT_EQ(config_.checkpoints, "true");
}

TEST_F(EnvironmentTest, ListsHaveCommasObjectsAreJson) {
  const Status status = Read({{"SEENDB_HOSTS", "a.example,b.example"},
                              {"SEENDB_ORIGINS", R"(["https://a.example"])"},
                              {"SEENDB_KAFKA_BROKERS", "k:1"},
                              {"SEENDB_KAFKA_TOPICS", R"([{"topic":"plays"}])"},
                              {"SEENDB_DEFAULT_POLICY", R"({"window":2})"}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(config_.hosts, (std::vector<std::string>{"a.example", "b.example"}));
  EXPECT_EQ(config_.origins, std::vector<std::string>{"https://a.example"});
  ASSERT_TRUE(config_.kafka);
  EXPECT_EQ(config_.kafka->topics.at(0).topic, "plays");
  EXPECT_TRUE(config_.default_policy);
  ASSERT_TRUE(Read({{"SEENDB_HOSTS", ""}}).ok());
  EXPECT_TRUE(config_.hosts.empty());
}

TEST_F(EnvironmentTest, AFileMayHoldTheValue) {
  const std::string key = File("key", "0f0102030405060708090a0b0c0d0eff\n");
  const Status status = Read({{"SEENDB_ENGINE_ITEM_HASH_KEY_FILE", key}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(config_.engine.item_hash_key);
  // A key that itself ends with _file is meant where there is one.
  ASSERT_TRUE(Read({{"SEENDB_TOKENS_FILE", "/t"}}).ok());
  EXPECT_EQ(config_.tokens_file, "/t");
  const Status absent = Read({{"SEENDB_DB_FILE", folder_ + "/nowhere"}});
  EXPECT_EQ(absent.message(),
            "SEENDB_DB_FILE: can't read " + folder_ + "/nowhere: No such file or directory");
}

TEST_F(EnvironmentTest, FlagsWinOverVariablesAndThoseOverTheFile) {
  const std::string file = File("s.json", R"({"db":"/file","checkpoints":"/file","listen":"h:1",
                                              "limits":{"queue":5,"idle_ms":9}})");
  const Status status =
      Read({{"SEENDB_DB", "/variable"}, {"SEENDB_LISTEN", "h:2"}, {"SEENDB_LIMITS_QUEUE", "6"}},
           file, {{"/listen", {"h:3", "--listen"}}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(config_.checkpoints, "/file");
  EXPECT_EQ(config_.db, "/variable");
  EXPECT_EQ(config_.listen, "h:3");
  EXPECT_EQ(config_.limits.queue, 6u);
  EXPECT_EQ(config_.limits.idle_ms, 9);
}

TEST_F(EnvironmentTest, AnObjectAddsToWhatTheFileSays) {
  const std::string file = File("s.json", R"({"limits":{"queue":5,"idle_ms":9}})");
  ASSERT_TRUE(Read({{"SEENDB_LIMITS", R"({"queue":7})"}}, file).ok());
  EXPECT_EQ(config_.limits.queue, 7u);
  EXPECT_EQ(config_.limits.idle_ms, 9);
}

TEST_F(EnvironmentTest, WhatIsWrongNamesTheVariable) {
  const std::pair<Variables, const char*> kCases[] = {
      {{{"SEENDB_ENGINE_SHARDS", "many"}},
       "SEENDB_ENGINE_SHARDS: /engine/shards: must be an integer"},
      {{{"SEENDB_LISTEN", "nowhere"}}, "SEENDB_LISTEN: /listen: must look like \"127.0.0.1:7373\""},
      {{{"SEENDB_HOSTS", "a,b/c"}},
       "SEENDB_HOSTS: /hosts/1: must be a host's name without scheme and port, or \"*\""},
      {{{"SEENDB_LIMITS", R"({"queu":7})"}},
       "SEENDB_LIMITS: /limits/queu: unknown key; did you mean `queue`? Known: "},
      {{{"SEENDB_LIMITS", "7"}}, "SEENDB_LIMITS: /limits: must be an object"},
  };
  for (const auto& [variables, message] : kCases) {
    const Status status = Read(variables);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << message;
    EXPECT_TRUE(status.message().starts_with(message)) << status.ToString();
  }
}

TEST_F(EnvironmentTest, AVariableUnderASectionThatIsNoObjectIsRefused) {
  const std::string file = File("s.json", R"({"limits":7})");
  const Status status = Read({{"SEENDB_LIMITS_QUEUE", "5"}}, file);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("/limits"), std::string_view::npos) << status.ToString();
}

TEST_F(EnvironmentTest, VariablesThatSetNothingAreToldWithTheNearest) {
  ASSERT_TRUE(
      Read({{"SEENDB_LISTN", "h:1"}, {"SEENDB_URL", "http://x"}, {"SEENDB_TEST_X", "1"}}).ok());
  EXPECT_EQ(config_.given.unknown,
            std::vector<std::string>{"SEENDB_LISTN is no setting; did you mean SEENDB_LISTEN?"});
}

TEST_F(EnvironmentTest, VariablesOfOthersSayNothing) {
  ASSERT_TRUE(Read({{"SEENDB_CONFIG", "c"},
                    {"SEENDB_TOKEN_FILE", "t"},
                    {"SEENDB_SERVICE_HOST", "10.0.0.1"},
                    {"SEENDB_PORT_7373_TCP_ADDR", "10.0.0.1"}})
                  .ok());
  EXPECT_TRUE(config_.given.unknown.empty());
}

TEST_F(EnvironmentTest, NumbersMayHaveCommasToo) {
  const Variables kafka = {{"SEENDB_KAFKA_BROKERS", "k:1"},
                           {"SEENDB_KAFKA_TOPICS", R"([{"topic":"1"}])"}};
  for (const auto& [text, partitions] :
       {std::pair("3", std::vector<int32_t>{3}), std::pair("1,2", std::vector<int32_t>{1, 2}),
        std::pair("[2, 1]", std::vector<int32_t>{1, 2})}) {
    Variables variables = kafka;
    variables["SEENDB_KAFKA_PARTITIONS"] = text;
    variables["SEENDB_KAFKA_DEAD_LETTER_TOPIC"] = "12";
    variables["SEENDB_ADMISSION_PRIORITY_FACTORS"] = "4,2,0.5";
    const Status status = Read(variables);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(config_.kafka->partitions, partitions) << text;
    EXPECT_EQ(config_.kafka->dead_letter_topic, "12");
    EXPECT_EQ(config_.admission.priority_factors, (std::array<double, 3>{4, 2, 0.5}));
  }
  Variables all = kafka;
  all["SEENDB_KAFKA_PARTITIONS"] = "all";
  ASSERT_TRUE(Read(all).ok());
  EXPECT_FALSE(config_.kafka->partitions);
}

TEST_F(EnvironmentTest, AFileOfAValueIsJudged) {
  const std::string key = File("key", "0f0102030405060708090a0b0c0d0eff");
  std::filesystem::permissions(key, std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(Read({{"SEENDB_ENGINE_ITEM_HASH_KEY_FILE", key}}).message(),
            "SEENDB_ENGINE_ITEM_HASH_KEY_FILE: " + key +
                " can be written by others; do: chmod go-w " + key);
  const std::string pem = File("pem", "-----BEGIN PRIVATE KEY-----\nMIIE\n");
  EXPECT_EQ(Read({{"SEENDB_TLS_KEY_FILE", pem}}).message(),
            "SEENDB_TLS_KEY_FILE: has more than one line");
  const std::string huge = File("huge", std::string((1 << 20) + 1, '1'));
  EXPECT_EQ(Read({{"SEENDB_THREADS_FILE", huge}}).message(),
            "SEENDB_THREADS_FILE: " + huge + " is over 1048576 bytes");
  EXPECT_EQ(Read({{"SEENDB_DB_FILE", folder_}}).code(), StatusCode::kInvalidArgument);
}

TEST_F(EnvironmentTest, AValueIsGivenOnce) {
  const Status status = Read({{"SEENDB_DB", "a"}, {"SEENDB_DB_FILE", File("db", "b")}});
  EXPECT_EQ(status.message(), "SEENDB_DB_FILE: SEENDB_DB is set as well");
}

TEST_F(EnvironmentTest, TheKeyWinsOverTheObjectThatHoldsIt) {
  ASSERT_TRUE(Read({{"SEENDB_LIMITS_FILE", File("limits", R"({"queue":7,"idle_ms":9})")},
                    {"SEENDB_LIMITS_BACKLOG", "5"},
                    {"SEENDB_LIMITS_QUEUE", "8"}})
                  .ok());
  EXPECT_EQ(config_.limits.queue, 8u);
  EXPECT_EQ(config_.limits.backlog, 5);
  EXPECT_EQ(config_.limits.idle_ms, 9);
}

TEST_F(EnvironmentTest, NoMessageHasAPartOfASecret) {
  const Variables kCases[] = {
      {{"SEENDB_KAFKA_PROPERTIES", R"({"sasl.password":"hunter2")"}},
      {{"SEENDB_KAFKA_PROPERTIES", R"({"sasl.password":["hunter2"]})"}},
      {{"SEENDB_ENGINE_ITEM_HASH_KEY", "hunter2"}},
      {{"SEENDB_ACCESS_LOG_USER_KEY", "hunter2"}},
      {{"SEENDB_MIGRATION", R"({"v":{"redis":"redis:/:hunter2@h","key":"w:{user}"}})"}},
      {{"SEENDB_MIGRATION", std::string(40, '[') + "hunter2"}},
      {{"SEENDB_DB", "hunter2\xff"}},
  };
  for (const Variables& variables : kCases) {
    const Status status = Read(variables);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << variables.begin()->second;
    EXPECT_TRUE(status.message().starts_with(variables.begin()->first + ": ")) << status.ToString();
    EXPECT_EQ(status.message().find("hunter2"), std::string_view::npos) << status.ToString();
  }
  const Status file =
      Read({}, File("s.json", R"({"kafka":{"properties":{"sasl.password":"hunter2)"));
  EXPECT_EQ(file.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file.message().find("hunter2"), std::string_view::npos) << file.ToString();
}

TEST_F(EnvironmentTest, WhatNobodyGaveNamesTheKeyAlone) {
  EXPECT_EQ(Read({{"SEENDB_KAFKA_BROKERS", "k:1"}}).message(), "/kafka/topics: missing key");
}

TEST_F(EnvironmentTest, AnySmallTextIsReadOrRefusedByName) {
  std::mt19937_64 random(test::Seed());
  constexpr std::string_view kPieces[] = {
      "[",     "]",  "{",  "}", "\"",   ",",    ":",    "1",    "-9",          "1e99",        "all",
      "queue", "\\", "\n", " ", "null", "\xc3", "true", "\xa9", "{\"queue\":", "\"idle_ms\":"};
  constexpr const char* kNames[] = {
      "SEENDB_LIMITS",           "SEENDB_HOSTS", "SEENDB_LIMITS_QUEUE",
      "SEENDB_KAFKA_PARTITIONS", "SEENDB_DB",    "SEENDB_ADMISSION_PRIORITY_FACTORS",
      "SEENDB_DEFAULT_POLICY"};
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (size_t i = random() % 8; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
    const std::string name = kNames[random() % std::size(kNames)];
    const Status status = Read({{name, text}});
    if (status.ok()) {
      Config again;
      ASSERT_TRUE(ReadConfig(config_.given.document.dump(), &again).ok()) << name << "=" << text;
      EXPECT_EQ(again.limits.queue, config_.limits.queue);
      EXPECT_EQ(again.hosts, config_.hosts);
      EXPECT_EQ(again.db, config_.db);
    } else if (!status.message().starts_with(
                   "/kafka/")) {  // of which brokers and topics are missing
      EXPECT_TRUE(status.message().starts_with(name + ": ")) << text << ": " << status.ToString();
    }
  }
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
