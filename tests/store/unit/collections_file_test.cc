// The file COLLECTIONS: what was written is read, and damage is told.

#include "store/collections_file.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <rocksdb/env.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

class CollectionsFileTest : public ::testing::Test {
 protected:
  CollectionsFileTest() : env_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {
    EXPECT_TRUE(env_->CreateDirIfMissing("/db").ok());
  }
  Result<std::optional<CollectionRecords>> ReadWith(const std::string& text) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(env_.get(), text, "/db/COLLECTIONS").ok());
    return ReadCollections(env_.get(), "/db");
  }

  const std::unique_ptr<rocksdb::Env> env_;
};

TEST_F(CollectionsFileTest, WhatWasWrittenIsRead) {
  const auto none = ReadCollections(env_.get(), "/db");
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_FALSE(none->has_value());

  Policy policy;
  policy.bucket = {BucketKind::kDays, 10};
  policy.history.enabled = true;
  policy.first_of_day = true;
  const CollectionRecords records{{"default", {0, 1, Policy()}},
                                  {"video", {3, 12, policy}},
                                  {"gone", {UINT64_MAX, UINT64_MAX, {}}}};
  const Status written = WriteCollections(env_.get(), "/db", records);
  ASSERT_TRUE(written.ok()) << written.ToString();
  const auto read = ReadCollections(env_.get(), "/db");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->value(), records);
}

TEST_F(CollectionsFileTest, AChangeIsAnnounced) {
  const CollectionRecords records{{"video", {1, 2, Policy()}}};
  for (const bool written : {true, false}) {
    ASSERT_TRUE(WriteCollections(env_.get(), "/db", records, written).ok());
    bool changing = !written;
    const auto read = ReadCollections(env_.get(), "/db", &changing);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(read->value(), records);
    EXPECT_EQ(changing, written);
  }
}

TEST_F(CollectionsFileTest, EveryChangedByteIsDamage) {
  ASSERT_TRUE(WriteCollections(env_.get(), "/db", {{"video", {1, 2, Policy()}}}, true).ok());
  std::string text;
  ASSERT_TRUE(rocksdb::ReadFileToString(env_.get(), "/db/COLLECTIONS", &text).ok());
  const auto sound = ReadCollections(env_.get(), "/db");
  ASSERT_TRUE(sound.ok());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    const auto read = ReadWith(damaged);
    // A newer format may be meant, and white space means nothing.
    if (read.ok()) {
      EXPECT_EQ(*read, *sound) << i;
    } else {
      EXPECT_TRUE(read.status().code() == StatusCode::kCorruption ||
                  read.status().code() == StatusCode::kIncompatible)
          << i << read.status().ToString();
    }
  }
  for (const char* const none : {"", "{}", "[]", "null", "{\"format\":1}"}) {
    EXPECT_EQ(ReadWith(none).status().code(), StatusCode::kCorruption) << none;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
