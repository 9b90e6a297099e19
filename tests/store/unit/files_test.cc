#include "store/files.h"

#include <cstdlib>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filter/hash.h"
#include "store/copy_file.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using ::testing::HasSubstr;

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() : env_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {
    EXPECT_TRUE(env_->CreateDirIfMissing("/db").ok());
    EXPECT_TRUE(env_->CreateDirIfMissing(ShardPath("/db", 3)).ok());
  }
  void Write(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(rocksdb::WriteStringToFile(env_.get(), bytes, path).ok()) << path;
  }
  std::string Read(const std::string& path) {
    std::string bytes;
    EXPECT_TRUE(rocksdb::ReadFileToString(env_.get(), path, &bytes).ok()) << path;
    return bytes;
  }

  const std::unique_ptr<rocksdb::Env> env_;
};

Identity Sample() {
  Identity identity;
  identity.id = "0123456789abcdef";
  identity.shards = 4;
  identity.hash.key = {1, 2};
  identity.ready = true;
  return identity;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(IdentityTest, IsReadAsItIsWritten) {
  const auto read = Identity::FromJson(Sample().ToJson());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->id, Sample().id);
  EXPECT_EQ(read->shards, 4U);
  EXPECT_EQ(read->hash, Sample().hash);
  EXPECT_TRUE(read->ready);
  EXPECT_TRUE(read->history);
}

TEST(IdentityTest, ADatabaseOfOtherMakingIsIncompatible) {
  const std::string json = Sample().ToJson();
  for (const auto& [from, to] :
       {std::pair{"\"format\": 2", "\"format\": 3"}, std::pair{"\"hash\": 2", "\"hash\": 7"},
        std::pair{"seendb.seen.v1", "seendb.seen.v9"}}) {
    const auto read = Identity::FromJson(Replaced(json, from, to));
    EXPECT_EQ(read.status().code(), StatusCode::kIncompatible) << to;
  }
}

TEST(IdentityTest, AllDifferencesAreNamedAtOnce) {
  const std::string json =
      Replaced(Replaced(Sample().ToJson(), "\"hash\": 2", "\"hash\": 7"), "users.v1", "users.v2");
  const auto read = Identity::FromJson(json);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("hash is 7"));
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("seendb.users.v2"));
}

TEST(IdentityTest, WhatIsNoIdentityIsDamage) {
  const std::string json = Sample().ToJson();
  const std::string texts[] = {"",
                               "{",
                               "[]",
                               "{}",
                               json.substr(0, json.size() / 2),
                               Replaced(json, "\"shards\": 4", "\"shards\": 0"),
                               Replaced(json, "\"shards\": 4", "\"shards\": 4.0"),
                               Replaced(json, "\"shards\": 4", "\"shards\": 4294967297")};
  for (const std::string& text : texts) {
    EXPECT_EQ(Identity::FromJson(text).status().code(), StatusCode::kCorruption) << text;
  }
}

TEST_F(FilesTest, NoDatabaseIsNoError) {
  const auto read = ReadIdentity(env_.get(), "/db");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_FALSE(read->has_value());
}

TEST_F(FilesTest, AnIdentityReplacesTheOneBefore) {
  ASSERT_TRUE(WriteIdentity(env_.get(), "/db", Sample()).ok());
  Identity changed = Sample();
  changed.ready = false;
  ASSERT_TRUE(WriteIdentity(env_.get(), "/db", changed).ok());
  const auto read = ReadIdentity(env_.get(), "/db");
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_FALSE((*read)->ready);
}

TEST_F(FilesTest, TheSyncedSequenceIsReadAsItIsWritten) {
  const std::string shard = ShardPath("/db", 3);
  EXPECT_EQ(ReadSyncedSequence(env_.get(), shard), std::nullopt);
  ASSERT_TRUE(WriteSyncedSequence(env_.get(), shard, 42).ok());
  EXPECT_EQ(ReadSyncedSequence(env_.get(), shard), 42U);
  ASSERT_TRUE(WriteSyncedSequence(env_.get(), shard, uint64_t{1} << 55, true).ok());
  EXPECT_EQ(ReadSyncedSequence(env_.get(), shard), uint64_t{1} << 55);
}

// A power loss may leave any part of the file's last version. A wrong number would refuse a sound
// database.
TEST_F(FilesTest, ATornSyncedSequenceIsNone) {
  const std::string shard = ShardPath("/db", 3);
  ASSERT_TRUE(WriteSyncedSequence(env_.get(), shard, 42).ok());
  const std::string whole = Read(shard + "/SYNCED");
  for (size_t size = 0; size < whole.size(); ++size) {
    Write(shard + "/SYNCED", whole.substr(0, size));
    EXPECT_EQ(ReadSyncedSequence(env_.get(), shard), std::nullopt) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    Write(shard + "/SYNCED", flipped);
    EXPECT_EQ(ReadSyncedSequence(env_.get(), shard), std::nullopt) << at;
  }
}

TEST_F(FilesTest, ACopyHasTheBytesAskedFor) {
  Write("/db/from", "0123456789");
  ASSERT_TRUE(CopyFile(env_.get(), "/db/from", "/db/to", 7).ok());
  EXPECT_EQ(Read("/db/to"), "0123456");
}

TEST_F(FilesTest, AFileThatIsTooShortIsNotCopied) {
  Write("/db/from", "0123456789");
  EXPECT_EQ(CopyFile(env_.get(), "/db/from", "/db/to", 11).code(), StatusCode::kCorruption);
}

TEST(FolderNames, FolderOfAPath) {
  EXPECT_EQ(FolderOf("/a/b"), "/a");
  EXPECT_EQ(FolderOf("a/b/c"), "a/b");
  EXPECT_EQ(FolderOf("b"), ".");
}

TEST(MarkedFolder, IsRemovedByItsMarkOrWhenItIsEmpty) {
  rocksdb::Env* const env = rocksdb::Env::Default();
  std::string root = ::testing::TempDir() + "seendb_marked_XXXXXX";
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  const std::string copy = root + "/copy.tmp";
  const MarkedFolder marked{copy, "UNFINISHED"};
  EXPECT_TRUE(marked.RemoveLeftover(env).ok()) << "nothing is there";
  ASSERT_TRUE(marked.Make(env).ok());
  ASSERT_TRUE(rocksdb::WriteStringToFile(env, "half", copy + "/000001.sst").ok());
  EXPECT_TRUE(marked.RemoveLeftover(env).ok());
  EXPECT_TRUE(env->FileExists(copy).IsNotFound());

  // Killed between the folder and its mark.
  ASSERT_TRUE(env->CreateDir(copy).ok());
  EXPECT_TRUE(marked.RemoveLeftover(env).ok());
  EXPECT_TRUE(env->FileExists(copy).IsNotFound());

  ASSERT_TRUE(env->CreateDir(copy).ok());
  ASSERT_TRUE(rocksdb::WriteStringToFile(env, "of somebody else", copy + "/holiday.jpg").ok());
  const Status refused = marked.RemoveLeftover(env);
  EXPECT_EQ(refused.code(), StatusCode::kIncompatible);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("it has no file UNFINISHED"));
  EXPECT_TRUE(env->DeleteFile(copy + "/holiday.jpg").ok()) << "nobody else removes it";
  EXPECT_TRUE(env->DeleteDir(copy).ok());
  EXPECT_TRUE(env->DeleteDir(root).ok());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
