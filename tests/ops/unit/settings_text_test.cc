// What --print-config prints, and that every key may be given in every way.

#include "ops/settings_text.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/json_pointer.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

/// Together they have a value of every key, another than its default.
constexpr const char* kSingle = R"({
  "db": "/d", "checkpoints": "/c", "listen": "127.0.0.1:1", "admin_listen": "127.0.0.1:2",
  "unix_listen": "/s", "tls": {"certificate": "c.pem", "key": "k.pem", "client_ca": "ca.pem"},
  "tokens_file": "t.json", "authenticate_once": true, "require_secure": true,
  "hosts": ["a.example", "b.example"], "origins": ["https://a.example"], "threads": 3,
  "log_level": "warn",
  "access_log": {"mode": "sampled", "sample": 0.5, "slow_ms": 7, "lines_per_s": 8,
                 "user_key": "0f0102030405060708090a0b0c0d0eff"},
  "audit": {"file": "audit.log", "users": "clear", "on_failure": "wait"},
  "core_dumps": true, "unsafe_integers": "refuse", "compress_filter": true, "clock": "manual:5",
  "limits": {"body_bytes": 2048, "line_bytes": 2049, "header_bytes": 2050, "header_ms": 11,
             "idle_ms": 12, "transfer_ms": 13, "stream_ms": 14, "read_bytes_per_s": 15,
             "connections": 16, "connections_per_peer": 17,
             "failed_tokens_per_minute": 19, "inflight_bytes": 1048577,
             "answer_bytes": 1048578, "backlog": 18, "queue": 19, "shutdown_delay_ms": 20,
             "shutdown_ms": 21, "candidates": 22},
  "admission": {"enabled": false, "target_ms": 31, "interval_ms": 32, "burst_ms": 33,
                "disk_target_ms": 34, "slice_us": 35, "intake_share": 0.25,
                "priority_factors": [3.0, 2.0, 0.5], "max_timeout_ms": 36, "default_timeout_ms": 37,
                "retry_after_max_s": 38, "discard_bytes": 39,
                "degrade": {"min_share": 0.75, "up_ms": 40, "down_ms": 41}},
  "kafka": {"brokers": "k:1,k:2", "group": "g", "start": "earliest", "dead_letter_topic": "123",
            "topics": [{"topic": "plays", "user": "@key", "at_unit": "s"}], "partitions": [1, 2],
            "batch_messages": 51, "batch_ms": 52, "queued_bytes": 1048579, "message_bytes": 2051,
            "refresh_ms": 53, "commit_ms": 54,
            "properties": {"security.protocol": "sasl_ssl", "sasl.password": "hunter2"}},
  "migration": {"video": {"redis": "redis://u:hunter2@h:1", "key": "w:{user}"}},
  "consul": {"url": "http://h:2", "ca": "ca.pem", "token_file": "t", "service": "seen", "id": "one",
             "advertise": "h:3", "check": "connect", "check_address": "h:4", "check_interval_s": 94,
             "forget_after_s": 95, "tags": ["eu"]},
  "items": {"bytes": 91, "floor_days": 92, "lag_ms": 5093},
  "default_policy": {"window": 2},
  "engine": {"shards": 5, "item_hash_key": "11111111111111111111111111111111", "open_damaged": true,
             "ring_slots": 7, "slot_ms": 61, "slot_bytes": 62, "short_term_bytes": 63,
             "block_cache_bytes": 64, "user_cache_bytes": 65, "write_buffer_bytes": 1048580,
             "background_threads": 9, "max_column_families": 67, "max_collections": 68,
             "list_limit": 69, "sync_interval_ms": 70, "erase_within_days": 71, "outbox_max": 72,
             "clock_jump_ms": 73, "maintenance": "01:00-02:30"}})";
constexpr const char* kNode = R"({
  "cluster": {"brokers": "c:1", "name": "feed", "node": "1", "advertise": "http://h:1", "ca": "ca.pem",
              "zone": "2", "weight": 2.5, "secret_file": "s", "backup_dir": "/b",
              "transfer_mb_per_s": 81, "properties": {"client.id": "i"}},
  "kafka": {"topics": [{"topic": "plays"}], "start": 5, "dead_letter_file": "/dead"}})";

/// Calls `take` with the pointer of each key whose value is no object with keys known beforehand,
/// the name of its variable, and the key.
template <typename Take>
void ForEachKey(const Keys& keys, const std::string& pointer, const std::string& name,
                const Take& take) {
  for (const auto& [key, setter] : keys) {
    std::string variable = name + "_" + key;
    std::transform(variable.begin(), variable.end(), variable.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::string at = pointer + PointerTo(key);
    if (setter.inner() == nullptr) {
      take(at, variable, setter);
    } else {
      ForEachKey(*setter.inner(), at, variable, take);
    }
  }
}

class SettingsTextTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& text) {
    const std::string path = folder_ + "/settings.json";
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  /// The settings of a file, which has to be right.
  Config Read(const std::string& text, const Variables& variables = {},
              const FlagValues& flags = {}) {
    Config config;
    const Status status =
        ReadAllSettings(text.empty() ? "" : File(text), variables, flags, &config);
    EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << text;
    return config;
  }
  /// The line of a key without comment and blanks at the ends, and the comment.
  static std::pair<std::string, std::string> LineOf(const std::string& text,
                                                    const std::string& key) {
    size_t begin = text.find("\"" + key + "\": ");
    if (begin == std::string::npos) return {};
    const size_t at = text.rfind('\n', begin) + 1;
    std::string line = text.substr(at, text.find('\n', begin) - at);
    line = line.substr(line.find_first_not_of(' '));
    const size_t comment = line.find("  // ");
    if (comment == std::string::npos) return {line, ""};
    const std::string behind = line.substr(comment + 5);
    line = line.substr(0, comment);
    return {line.substr(0, line.find_last_not_of(' ') + 1), behind};
  }

  const std::string folder_ =
      ::testing::TempDir() + "settings_text_test." + std::to_string(getpid());
};

TEST_F(SettingsTextTest, SaysWhereEachValueCameFrom) {
  const Config config = Read(R"({"db": "/file", // a comment, "db": "other"
                                 "origins": ["https://a.example"],
                                 "kafka": {"brokers": "k:1", "topics": [{"topic": "t"}]}})",
                             {{"SEENDB_ENGINE_SHARDS", "7"}}, {{"/listen", {"h:3", "--listen"}}});
  const std::string text = SettingsText(config);
  const std::string file = folder_ + "/settings.json";
  using Line = std::pair<std::string, std::string>;
  EXPECT_EQ(LineOf(text, "db"), Line("\"db\": \"/file\",", file));
  EXPECT_EQ(LineOf(text, "origins"), Line("\"origins\": [\"https://a.example\"],", file));
  EXPECT_EQ(LineOf(text, "listen"), Line("\"listen\": \"h:3\",", "--listen"));
  EXPECT_EQ(LineOf(text, "shards"), Line("\"shards\": 7,", "SEENDB_ENGINE_SHARDS"));
  EXPECT_EQ(LineOf(text, "maintenance"), Line("\"maintenance\": \"00:00-05:00\",", "default"));
  EXPECT_EQ(LineOf(text, "mode"), Line("\"mode\": \"slow\",", "default"));
  EXPECT_EQ(LineOf(text, "batch_ms"), Line("\"batch_ms\": 50,", "default"));
  EXPECT_EQ(LineOf(text, "cluster"), Line("// \"cluster\": not set", ""));
  EXPECT_EQ(LineOf(text, "admin_listen"), Line("// \"admin_listen\": not set", ""));
}

TEST_F(SettingsTextTest, ShowsTheDelayThatAClusterHas) {
  EXPECT_EQ(LineOf(SettingsText(Read(kNode)), "shutdown_delay_ms").first,
            "\"shutdown_delay_ms\": 2000,");
}

// Every key has a value that is not its default in one of the documents above.
TEST_F(SettingsTextTest, TheseTestsKnowEveryKey) {
  Config defaults;
  const Json single = Read(kSingle).given.document, node = Read(kNode).given.document;
  ForEachKey(ConfigKeys(&defaults), "", "SEENDB",
             [&](const std::string& at, const std::string&, const Setter& setter) {
               const Json::json_pointer pointer(at);
               ASSERT_TRUE(single.contains(pointer) || node.contains(pointer)) << at;
               const Json& value = single.contains(pointer) ? single.at(pointer) : node.at(pointer);
               EXPECT_NE(value, setter.value()) << at;
             });
}

TEST_F(SettingsTextTest, IsAFileOfTheSameSettings) {
  for (const char* const json : {kSingle, kNode, R"({"db":"d"})"}) {
    const Config config = Read(json);
    const std::string text = SettingsText(config);
    Variables secrets;  // which the text does not have
    if (json == kSingle) {
      secrets = {{"SEENDB_ENGINE_ITEM_HASH_KEY", "11111111111111111111111111111111"},
                 {"SEENDB_ACCESS_LOG_USER_KEY", "0f0102030405060708090a0b0c0d0eff"},
                 {"SEENDB_KAFKA_PROPERTIES", R"({"sasl.password":"hunter2"})"},
                 {"SEENDB_MIGRATION", R"({"video":{"redis":"redis://u:hunter2@h:1"}})"}};
    }
    const Config again = Read(text, secrets);
    const Json before = config.given.document.flatten(), after = again.given.document;
    for (const auto& [pointer, value] : before.items()) {
      const Json::json_pointer at(pointer);
      ASSERT_TRUE(after.contains(at)) << pointer;
      EXPECT_EQ(after.at(at), value) << pointer;
    }
    // Defaults stand there as well: what they say is what the settings have without them.
    Config keys = config, keys_again = again;
    std::vector<std::pair<std::string, Json>> values, values_again;
    const auto collect = [](std::vector<std::pair<std::string, Json>>* to) {
      return [to](const std::string& at, const std::string&, const Setter& setter) {
        to->emplace_back(at, setter.value());
      };
    };
    ForEachKey(ConfigKeys(&keys), "", "", collect(&values));
    ForEachKey(ConfigKeys(&keys_again), "", "", collect(&values_again));
    EXPECT_EQ(values, values_again);
    EXPECT_EQ(config.kafka.has_value(), again.kafka.has_value());
    EXPECT_EQ(config.cluster.has_value(), again.cluster.has_value());
    EXPECT_EQ(config.tls.has_value(), again.tls.has_value());
  }
}

TEST_F(SettingsTextTest, HasNoSecretAndIsRefusedWhereItLacksOne) {
  const std::string text = SettingsText(Read(kSingle));
  for (const char* const secret : {"hunter2", "0f0102", "111111"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << text;
  }
  const std::string kafka = R"({"kafka":{"brokers":"k:1","topics":[{"topic":"t"}],"properties":)";
  for (const std::string& masked :
       {std::string(R"x({"engine":{"item_hash_key":"(not shown)"}})x"),
        kafka + R"x({"sasl.password":"(not shown)"}}})x",
        std::string(
            R"x({"migration":{"v":{"redis":"redis://(not shown)@h","key":"w:{user}"}}})x")}) {
    Config config;
    const Status status = ReadAllSettings(File(masked), {}, {}, &config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << masked;
    EXPECT_TRUE(Json::parse(masked).contains(Json::json_pointer(std::string(status.field()))))
        << status.ToString();
    EXPECT_NE(status.message().find("is what --print-config shows of a secret"),
              std::string_view::npos);
  }
}

// By its own variable, each key has the value that it has by the file.
TEST_F(SettingsTextTest, EveryKeyMayBeAVariable) {
  for (const char* const json : {kSingle, kNode}) {
    const Json document = Read(json).given.document;
    Config defaults;
    Variables variables;
    ForEachKey(ConfigKeys(&defaults), "", "SEENDB",
               [&](const std::string& at, const std::string& name, const Setter&) {
                 if (!document.contains(Json::json_pointer(at))) return;
                 const Json& value = document.at(Json::json_pointer(at));
                 std::string text = value.is_string() ? value.get<std::string>() : value.dump();
                 if (value.is_array() && !value.at(0).is_object()) {
                   text.clear();
                   for (const Json& one : value) {
                     text += (text.empty() ? "" : ",") +
                             (one.is_string() ? one.get<std::string>() : one.dump());
                   }
                 }
                 variables[name] = text;
               });
    const Config config = Read("", variables);
    EXPECT_EQ(config.given.document, document);
    EXPECT_TRUE(config.given.unknown.empty());
  }
}

TEST_F(SettingsTextTest, WhatChangedIsNamed) {
  EXPECT_EQ(ChangedSettings(Json::parse(R"({"db":"a","limits":{"queue":1,"idle_ms":2}})"),
                            Json::parse(R"({"db":"a","limits":{"queue":3,"backlog":2},
                                            "admission":{"degrade":{"up_ms":1}}})")),
            (std::vector<std::string>{"limits.idle_ms", "limits.queue", "limits.backlog",
                                      "admission.degrade.up_ms"}));
  EXPECT_TRUE(ChangedSettings(Json::object(), Json::object()).empty());
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
