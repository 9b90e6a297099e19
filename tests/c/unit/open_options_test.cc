// Options as JSON: every key is taken, and whatever is wrong is named.

#include "c/open_options.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::c::SEENDB_TEST_FILE {
namespace {

TEST(OpenOptionsTest, EveryKey) {
  Options options;
  const Status read = ReadOptions(
      R"({"shards":3,"create_if_missing":false,"read_only":true,"open_damaged":true,
          "background":false,"ring_slots":7,"slot_ms":1000,"slot_bytes_max":2000,
          "short_term_bytes":3000,"block_cache_bytes":4000,"user_cache_bytes":5000,
          "write_buffer_bytes":70000,"background_threads":8,"max_column_families":90,
          "max_collections":10,"list_limit":110,"max_candidates":12,"sync_interval_ms":13,
          "default_policy":{"fpr":0.001}})",
      &options);
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(options.shards, 3u);
  EXPECT_FALSE(options.create_if_missing);
  EXPECT_TRUE(options.read_only);
  EXPECT_TRUE(options.open_damaged);
  EXPECT_FALSE(options.background);
  EXPECT_EQ(options.ring_slots, 7u);
  EXPECT_EQ(options.slot_ms, 1000);
  EXPECT_EQ(options.slot_bytes_max, 2000u);
  EXPECT_EQ(options.short_term_bytes, 3000u);
  EXPECT_EQ(options.block_cache_bytes, 4000u);
  EXPECT_EQ(options.user_cache_bytes, 5000u);
  EXPECT_EQ(options.write_buffer_bytes, 70000u);
  EXPECT_EQ(options.background_threads, 8);
  EXPECT_EQ(options.max_column_families, 90u);
  EXPECT_EQ(options.max_collections, 10u);
  EXPECT_EQ(options.list_limit, 110u);
  EXPECT_EQ(options.max_candidates, 12u);
  EXPECT_EQ(options.sync_interval_ms, 13);
  EXPECT_EQ(options.default_policy.fpr, 0.001);
}

TEST(OpenOptionsTest, NamesWhatIsWrong) {
  const struct {
    std::string json;
    std::string field;
  } cases[] = {
      {"x", ""},
      {"[]", ""},
      {"{", ""},
      {R"({"default_policy":)" + std::string(5000, '[') + std::string(5000, ']') + "}", ""},
      {R"({"a/b":1})", "/a~1b"},
      {R"({"chards":1})", "/chards"},
      {R"({"shards":1,"shards":2})", "/shards"},
      {R"({"shards":"many"})", "/shards"},
      {R"({"shards":-1})", "/shards"},
      {R"({"shards":1.5})", "/shards"},
      {R"({"shards":1025})", "/shards"},
      {R"({"read_only":1})", "/read_only"},
      {R"({"max_candidates":0})", "/max_candidates"},
      {R"({"max_candidates":10000001})", "/max_candidates"},
      {R"({"default_policy":{"fpr":7}})", "/default_policy/fpr"},
      {R"({"default_policy":[]})", "/default_policy"},
  };
  for (const auto& one : cases) {
    Options options;
    const Status read = ReadOptions(one.json, &options);
    EXPECT_EQ(read.code(), StatusCode::kInvalidArgument) << one.json.substr(0, 80);
    EXPECT_EQ(read.field(), one.field) << one.json.substr(0, 80);
    EXPECT_FALSE(read.message().empty());
  }
  Options options;
  EXPECT_TRUE(ReadOptions("", &options).ok());
  EXPECT_TRUE(ReadOptions("{}", &options).ok());
}

}  // namespace
}  // namespace seendb::c::SEENDB_TEST_FILE
