// The node's copy of the fold, and which folders can be a node's.

#include "cluster/meta_cache.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

const InitRecord kInit{
    .uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f", .partitions = 4, .replicas = 2, .hash = 1};

class MetaCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/seendb-cluster-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    db_ = name;
  }
  void TearDown() override { fs::remove_all(db_); }
  std::string CachePath() const { return db_ + "/" + kMetaCacheName; }
  void WriteFile(const std::string& name, const std::string& text) const {
    std::ofstream(db_ + "/" + name) << text;
  }
  void WriteIdentity(const std::string& id, int shards, int hash,
                     const std::string& key = "") const {
    const std::string keyed = key.empty() ? "" : R"("hash_key":")" + key + R"(",)";
    WriteFile("SEENDB", R"({"format":1,"id":")" + id + R"(","shards":)" + std::to_string(shards) +
                            R"(,"hash":)" + std::to_string(hash) + "," + keyed +
                            R"("ready":true})");
  }

  std::string db_;
};

TEST_F(MetaCacheTest, IsReadBackAndForItsOwnerAlone) {
  EXPECT_FALSE(ReadMetaCache(CachePath()).has_value());
  Meta meta;
  ASSERT_TRUE(meta.Apply(0, EncodeMeta(kInit)).ok());
  ASSERT_TRUE(WriteMetaCache(CachePath(), Meta()).ok());
  ASSERT_TRUE(WriteMetaCache(CachePath(), meta).ok());
  EXPECT_EQ(ReadMetaCache(CachePath()), meta);
  struct stat info {};
  ASSERT_EQ(stat(CachePath().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(MetaCacheTest, ADamagedCopyIsNone) {
  WriteFile(kMetaCacheName, R"({"format":1,"next_offset")");
  EXPECT_FALSE(ReadMetaCache(CachePath()).has_value());
}

TEST_F(MetaCacheTest, ACopyThatCanNotBeWrittenIsAnError) {
  EXPECT_EQ(WriteMetaCache(db_ + "/absent/cluster.json", Meta()).code(), StatusCode::kIOError);
}

TEST_F(MetaCacheTest, AnEmptyFolderOrNoneIsANodes) {
  EXPECT_TRUE(CheckHome(db_, kInit).ok());
  EXPECT_TRUE(CheckHome(db_ + "/absent", kInit).ok());
  ASSERT_TRUE(WriteMetaCache(CachePath(), Meta()).ok());
  EXPECT_TRUE(CheckHome(db_, kInit).ok());
}

TEST_F(MetaCacheTest, TheClustersOwnDatabaseIsANodes) {
  WriteIdentity(kInit.uuid, 4, 1);
  EXPECT_TRUE(CheckHome(db_, kInit).ok());
}

TEST_F(MetaCacheTest, OfAKeyedHashTheKeyIsTheSame) {
  InitRecord init = kInit;
  init.hash = 2;
  init.key = "000102030405060708090a0b0c0d0e0f";
  WriteIdentity(init.uuid, 4, 2);
  EXPECT_EQ(CheckHome(db_, init).code(), StatusCode::kIncompatible);
  WriteIdentity(init.uuid, 4, 2, init.key);
  EXPECT_TRUE(CheckHome(db_, init).ok());
  WriteIdentity(init.uuid, 4, 2, "100102030405060708090a0b0c0d0e0f");
  EXPECT_EQ(CheckHome(db_, init).code(), StatusCode::kIncompatible);
}

TEST_F(MetaCacheTest, AnythingElseIsRefused) {
  const auto expect_refused = [&](const char* why) {
    const Status status = CheckHome(db_, kInit);
    EXPECT_EQ(status.code(), StatusCode::kIncompatible);
    EXPECT_NE(status.message().find("reshard"), std::string_view::npos);
    EXPECT_NE(status.message().find(why), std::string_view::npos) << status.ToString();
  };
  WriteFile("letter.txt", "hello");
  expect_refused("holds no database");
  WriteIdentity("3f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f", 4, 1);
  expect_refused("somebody else");
  WriteIdentity(kInit.uuid, 8, 1);
  expect_refused("other shards");
  WriteIdentity(kInit.uuid, 4, 2);
  expect_refused("another hash");
  WriteFile("SEENDB", "{");
  expect_refused("holds no database");
  EXPECT_EQ(CheckHome(db_ + "/letter.txt", kInit).code(), StatusCode::kIOError);
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
