// The config file and the flags.

#include "ops/config.h"

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ops/exit_codes.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

TEST(ConfigTest, ReadsEveryKey) {
  Config config;
  const Status status = ReadConfig(R"({
    "db": "/d", "checkpoints": "/c", "listen": "[::1]:0", "threads": 3, "log_level": "warn", "clock": "manual:5",
    "access_log": {"mode": "sampled", "sample": 0.25, "slow_ms": 9, "lines_per_s": 10,
                   "user_key": "000102030405060708090a0b0c0d0e0f"},
    "unsafe_integers": "refuse", "compress_filter": true, "core_dumps": true,
    "limits": {"body_bytes": 1024, "line_bytes": 2048, "header_bytes": 4096, "header_ms": 1,
               "idle_ms": 2, "transfer_ms": 8, "connections": 3,
               "failed_tokens_per_minute": 0, "inflight_bytes": 1048576, "queue": 5,
               "shutdown_ms": 6, "candidates": 7},
    "engine": {"shards": 2, "open_damaged": true, "ring_slots": 3, "slot_ms": 4, "slot_bytes": 5,
               "short_term_bytes": 6, "block_cache_bytes": 7, "user_cache_bytes": 70,
               "write_buffer_bytes": 1048576, "background_threads": 8, "max_column_families": 9,
               "max_collections": 15, "erase_within_days": 30,
               "item_hash_key": "0F0102030405060708090a0b0c0d0eff", "list_limit": 16,
               "sync_interval_ms": 11, "clock_jump_ms": 12, "outbox_max": 14,
               "maintenance": "22:30-01:15"}})",
                                   &config);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(config.db, "/d");
  EXPECT_EQ(config.checkpoints, "/c");
  EXPECT_EQ(config.listen, "[::1]:0");
  EXPECT_EQ(config.threads, 3u);
  EXPECT_EQ(config.log_level, "warn");
  EXPECT_EQ(config.manual_clock_ms, 5);
  EXPECT_EQ(config.access_log.mode, AccessLogMode::kSampled);
  EXPECT_EQ(config.access_log.sample, 0.25);
  EXPECT_EQ(config.access_log.slow_ms, 9);
  EXPECT_EQ(config.access_log.lines_per_s, 10u);
  EXPECT_EQ(config.access_log.user_key, "000102030405060708090a0b0c0d0e0f");
  EXPECT_TRUE(config.refuse_unsafe_integers);
  EXPECT_TRUE(config.compress_filter);
  EXPECT_TRUE(config.core_dumps);
  EXPECT_EQ(config.limits.body_bytes, 1'024u);
  EXPECT_EQ(config.limits.line_bytes, 2'048u);
  EXPECT_EQ(config.limits.header_bytes, 4'096u);
  EXPECT_EQ(config.limits.header_ms, 1);
  EXPECT_EQ(config.limits.idle_ms, 2);
  EXPECT_EQ(config.limits.transfer_ms, 8);
  EXPECT_EQ(config.limits.connections, 3u);
  EXPECT_EQ(config.limits.failed_tokens_per_minute, 0u);
  EXPECT_EQ(config.limits.inflight_bytes, 1'048'576u);
  EXPECT_EQ(config.limits.queue, 5u);
  EXPECT_EQ(config.limits.shutdown_ms, 6);
  EXPECT_EQ(config.engine.max_candidates, 7u);
  EXPECT_EQ(config.engine.shards, 2u);
  EXPECT_TRUE(config.engine.open_damaged);
  EXPECT_EQ(config.engine.ring_slots, 3u);
  EXPECT_EQ(config.engine.slot_ms, 4);
  EXPECT_EQ(config.engine.slot_bytes_max, 5u);
  EXPECT_EQ(config.engine.short_term_bytes, 6u);
  EXPECT_EQ(config.engine.block_cache_bytes, 7u);
  EXPECT_EQ(config.engine.user_cache_bytes, 70u);
  EXPECT_EQ(config.engine.background_threads, 8);
  EXPECT_EQ(config.engine.max_column_families, 9u);
  EXPECT_EQ(config.engine.max_collections, 15u);
  EXPECT_EQ(config.engine.erase_within_days, 30u);
  ASSERT_TRUE(config.engine.item_hash_key.has_value());
  EXPECT_EQ(config.engine.item_hash_key->front(), 15);
  EXPECT_EQ(config.engine.item_hash_key->back(), 255);
  EXPECT_EQ(config.engine.list_limit, 16u);
  EXPECT_EQ(config.engine.sync_interval_ms, 11);
  EXPECT_EQ(config.engine.clock_jump_ms, 12);
  EXPECT_EQ(config.engine.outbox_max, 14u);
  EXPECT_FALSE(config.engine.confirm_clock);
  EXPECT_EQ(config.engine.maintenance_begin_minute, 22 * 60 + 30);
  EXPECT_EQ(config.engine.maintenance_end_minute, 75);
}

TEST(ConfigTest, EveryModeOfTheAccessLog) {
  EXPECT_EQ(Config().access_log.mode, AccessLogMode::kSlow);
  const std::pair<const char*, AccessLogMode> modes[] = {{"off", AccessLogMode::kOff},
                                                         {"sampled", AccessLogMode::kSampled},
                                                         {"slow", AccessLogMode::kSlow},
                                                         {"all", AccessLogMode::kAll}};
  for (const auto& [name, mode] : modes) {
    Config config;
    const std::string json = R"({"access_log":{"mode":")" + std::string(name) + "\"}}";
    ASSERT_TRUE(ReadConfig(json, &config).ok()) << name;
    EXPECT_EQ(config.access_log.mode, mode) << name;
  }
}

TEST(ConfigTest, NamesWhatItRefuses) {
  const struct {
    const char* json;
    const char* field;
  } cases[] = {
      {"", ""},
      {"{", ""},
      {"[]", ""},
      {R"({"dbs":"x"})", "/dbs"},
      {R"({"db":1})", "/db"},
      {R"({"checkpoints":1})", "/checkpoints"},
      {R"({"db":"a","db":"b"})", "/db"},
      {R"({"listen":"here"})", "/listen"},
      {R"({"hosts":"a"})", "/hosts"},
      {R"({"hosts":["a",1]})", "/hosts/1"},
      {R"({"hosts":["http://a"]})", "/hosts/0"},
      {R"({"hosts":["a","b:80"]})", "/hosts/1"},
      {R"({"origins":["a.example"]})", "/origins/0"},
      {R"({"origins":["https://a.example","https://b.example/"]})", "/origins/1"},
      {R"({"origins":["*"]})", "/origins/0"},
      {R"({"threads":-1})", "/threads"},
      {R"({"threads":1.5})", "/threads"},
      {R"({"threads":18446744073709551615})", "/threads"},
      {R"({"log_level":"loud"})", "/log_level"},
      {R"({"clock":"manual"})", "/clock"},
      {R"({"core_dumps":"no"})", "/core_dumps"},
      {R"({"access_log":true})", "/access_log"},
      {R"({"access_log":{"level":1}})", "/access_log/level"},
      {R"({"access_log":{"mode":"some"}})", "/access_log/mode"},
      {R"({"access_log":{"mode":1}})", "/access_log/mode"},
      {R"({"access_log":{"sample":1.5}})", "/access_log/sample"},
      {R"({"access_log":{"sample":-0.1}})", "/access_log/sample"},
      {R"({"access_log":{"sample":"1"}})", "/access_log/sample"},
      {R"({"access_log":{"slow_ms":-1}})", "/access_log/slow_ms"},
      {R"({"access_log":{"lines_per_s":0}})", "/access_log/lines_per_s"},
      {R"({"access_log":{"user_key":"secret"}})", "/access_log/user_key"},
      {R"({"engine":{"item_hash_key":"secret"}})", "/engine/item_hash_key"},
      {R"({"engine":{"erase_within_days":0}})", "/engine/erase_within_days"},
      {R"({"clock":"manual:-5"})", "/clock"},
      {R"({"clock":"manual:253370764800000"})", "/clock"},
      {R"({"limits":[]})", "/limits"},
      {R"({"limits":{"body":1}})", "/limits/body"},
      {R"({"limits":{"idle_ms":0}})", "/limits/idle_ms"},
      {R"({"engine":{"ring_slots":1}})", "/engine/ring_slots"},
      {R"({"engine":{"open_damaged":1}})", "/engine/open_damaged"},
      {R"({"engine":{"clock_jump_ms":-1}})", "/engine/clock_jump_ms"},
      {R"({"engine":{"maintenance":"0:00-5:00"}})", "/engine/maintenance"},
      {R"({"engine":{"maintenance":"24:00-05:00"}})", "/engine/maintenance"},
      {R"({"engine":{"maintenance":"00:60-05:00"}})", "/engine/maintenance"},
      {R"({"engine":{"maintenance":"00:00-24:30"}})", "/engine/maintenance"},
      {R"({"collections":{}})", "/collections"},
      {R"({"a/b~c":1})", "/a~1b~0c"},
      {R"({"limits":{"/":1}})", "/limits/~1"},
      {R"({"~":1,"~":1})", "/~0"},
  };
  for (const auto& c : cases) {
    Config config;
    const Status status = ReadConfig(c.json, &config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << c.json;
    EXPECT_EQ(status.field(), c.field) << c.json << ": " << status.message();
  }
}

TEST(ConfigTest, TeachesTheNamesOfKeys) {
  Config config;
  const Status status = ReadConfig(R"({"lisen":"127.0.0.1:1"})", &config);
  EXPECT_TRUE(status.message().starts_with("unknown key; did you mean `listen`? Known: "))
      << status.message();
  const Status broken = ReadConfig(R"({"listen":})", &config);
  EXPECT_TRUE(broken.message().starts_with("parse error at line 1, column 11")) << broken.message();
}

TEST(ConfigTest, NothingHidesBehindAZeroByte) {
  Config config;
  EXPECT_FALSE(ReadConfig(std::string_view("{}\0{\"db\":1}", 11), &config).ok());
}

TEST(ConfigTest, ACommentEndsWithItsLine) {
  Config config;
  ASSERT_TRUE(
      ReadConfig("{\"db\": \"a//b\", // \"db\": \"c\"\r\"threads\": 3 // }\n}", &config).ok());
  EXPECT_EQ(config.db, "a//b");
  EXPECT_EQ(config.threads, 3u);
  const std::string zero("{\"threads\": 4 // \0\n}", 20);
  EXPECT_EQ(ReadConfig(zero, &config).message(), "malformed JSON: a zero byte");
  EXPECT_FALSE(ReadConfig("{\"threads\": 4 /* no */}", &config).ok());
}

/// A config file, removed afterwards.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(testing::TempDir() + "seendb_config_" + std::to_string(getpid()) + ".json") {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

template <typename... Args>
CommandLine Read(Args... args) {
  const char* const argv[] = {"seendb-server", args...};
  return ReadCommandLine(static_cast<int>(std::size(argv)), argv, "1.2.3");
}

TEST(CommandLineTest, FlagsWinOverTheFile) {
  const TemporaryFile file(
      R"({"db":"/file","threads":7,"listen":"127.0.0.1:1","engine":{"shards":2,"list_limit":99}})");
  CommandLine line = Read("--config", file.path());
  ASSERT_TRUE(line.config) << line.output;
  EXPECT_EQ(line.config->db, "/file");
  EXPECT_EQ(line.config->threads, 7u);
  line = Read("--config", file.path(), "--db", "/flag", "--threads", "0", "--shards", "5",
              "--listen", "127.0.0.1:0", "--clock", "manual:9", "--open-damaged", "--confirm-clock",
              "--checkpoints", "/copies");
  ASSERT_TRUE(line.config) << line.output;
  EXPECT_EQ(line.config->db, "/flag");
  EXPECT_EQ(line.config->checkpoints, "/copies");
  EXPECT_EQ(line.config->threads, 0u);
  EXPECT_EQ(line.config->engine.shards, 5u);
  EXPECT_EQ(line.config->engine.list_limit, 99u);
  EXPECT_EQ(line.config->listen, "127.0.0.1:0");
  EXPECT_EQ(line.config->manual_clock_ms, 9);
  EXPECT_TRUE(line.config->engine.open_damaged);
  EXPECT_TRUE(line.config->engine.confirm_clock);
}

TEST(CommandLineTest, CheckConfigIsPassedOn) {
  const TemporaryFile file(R"({"db":"/file"})");
  EXPECT_FALSE(Read("--config", file.path()).check_config);
  const CommandLine line = Read("--config", file.path(), "--check-config");
  ASSERT_TRUE(line.config) << line.output;
  EXPECT_TRUE(line.check_config);
}

TEST(CommandLineTest, UsageErrorsHaveTheirExitCode) {
  const TemporaryFile bad(R"({"engine":{"shard":2}})");
  const CommandLine lines[] = {Read(),
                               Read("--db"),
                               Read("--db", "d", "--threads", "x"),
                               Read("--db", "d", "--nope"),
                               Read("--db", "d", "--listen", "x"),
                               Read("--db", "d", "--clock", "system"),
                               Read("--db", "d", "--log-level", "loud"),
                               Read("--config", "/no/such/file"),
                               Read("--config", bad.path())};
  for (const CommandLine& line : lines) {
    EXPECT_FALSE(line.config);
    EXPECT_EQ(line.exit_code, kExitUsage);
    EXPECT_FALSE(line.output.empty());
  }
  EXPECT_NE(lines[8].output.find("/engine/shard"), std::string::npos) << lines[8].output;
  const CommandLine help = Read("--help");
  EXPECT_EQ(help.exit_code, kExitOk);
  EXPECT_NE(help.output.find("Examples:\n  seendb-server --db "), std::string::npos) << help.output;
  EXPECT_NE(Read("--version").output.find("seendb-server 1.2.3\n"), std::string::npos);
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
