// The disk in memory: it keeps what was synced, fails when told, and RocksDB runs on it.

#include "support/mem_disk.h"

#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/utilities/checkpoint.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

using rocksdb::EnvOptions;
using rocksdb::IOStatus;

class MemDiskTest : public ::testing::Test {
 protected:
  MemDiskTest() {
    EXPECT_TRUE(env()->CreateDir("/d").ok());
    SyncFolder("/");
  }
  rocksdb::Env* env() { return disk_.env(); }
  std::unique_ptr<rocksdb::WritableFile> Make(const std::string& path) {
    std::unique_ptr<rocksdb::WritableFile> file;
    EXPECT_TRUE(env()->NewWritableFile(path, &file, EnvOptions()).ok());
    return file;
  }
  void SyncFolder(const std::string& path) {
    std::unique_ptr<rocksdb::Directory> folder;
    ASSERT_TRUE(env()->NewDirectory(path, &folder).ok());
    ASSERT_TRUE(folder->Fsync().ok());
  }
  std::string Bytes(const std::string& path) {
    std::string bytes;
    return disk_.Read(path, &bytes) ? bytes : "nothing";
  }
  // What a file may hold after power cuts of many seeds.
  std::set<std::string> AfterCuts(const std::string& path, MemTear tear = MemTear::kShorten) {
    std::set<std::string> found;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const auto copy = disk_.Clone();
      copy->PowerCut(seed, tear);
      std::string bytes;
      found.insert(copy->Read(path, &bytes) ? bytes : "nothing");
    }
    return found;
  }

  MemDisk disk_;
};

TEST_F(MemDiskTest, APowerCutKeepsWhatWasSynced) {
  auto file = Make("/d/f");
  ASSERT_TRUE(file->Append("ab").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Append("cd").ok());
  EXPECT_EQ(AfterCuts("/d/f"), (std::set<std::string>{"nothing", "ab", "abc", "abcd"}));
  SyncFolder("/d");
  EXPECT_EQ(AfterCuts("/d/f"), (std::set<std::string>{"ab", "abc", "abcd"}));
  EXPECT_TRUE(AfterCuts("/d/f", MemTear::kGarbage).contains(std::string("ab\0\0", 4)));
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(AfterCuts("/d/f"), std::set<std::string>{"abcd"});
  EXPECT_EQ(Bytes("/d/f"), "abcd") << "clones are apart";
}

TEST_F(MemDiskTest, RenamesAndDeletionsMayComeBackUntilTheFolderIsSynced) {
  for (const char* name : {"/d/old", "/d/new", "/d/gone"}) {
    ASSERT_TRUE(rocksdb::WriteStringToFile(env(), name, name, true).ok());
  }
  SyncFolder("/d");
  ASSERT_TRUE(env()->RenameFile("/d/new", "/d/old").ok());
  ASSERT_TRUE(env()->DeleteFile("/d/gone").ok());
  EXPECT_EQ(AfterCuts("/d/old"), (std::set<std::string>{"/d/old", "/d/new"}));
  EXPECT_EQ(AfterCuts("/d/gone"), (std::set<std::string>{"/d/gone", "nothing"}));
  SyncFolder("/d");
  EXPECT_EQ(AfterCuts("/d/old"), std::set<std::string>{"/d/new"});
  EXPECT_EQ(AfterCuts("/d/gone"), std::set<std::string>{"nothing"});
}

TEST_F(MemDiskTest, RulesFailTheChosenOperations) {
  auto file = Make("/d/f");
  disk_.FailShort(MemDisk::kAppend, "/f", IOStatus::IOError("injected"), 1, 1);
  EXPECT_TRUE(file->Append("ab").ok());
  EXPECT_TRUE(file->Append("cdef").IsIOError());
  EXPECT_TRUE(file->Append("g").ok());
  EXPECT_EQ(Bytes("/d/f"), "abcdg");
  EXPECT_EQ(disk_.failures(), 1u);
  EXPECT_EQ(disk_.last_failure(), "append /d/f");
  disk_.SetCapacity(6);
  EXPECT_TRUE(file->Append("hi").IsNoSpace());
  disk_.SetCapacity(MemDisk::kUnlimited);
  EXPECT_TRUE(file->Append("hi").ok());
}

TEST_F(MemDiskTest, AfterACrashNothingReachesTheDisk) {
  auto file = Make("/d/f");
  disk_.CrashAt(MemDisk::kAppend, "", 1);
  EXPECT_TRUE(file->Append("ab").ok());
  EXPECT_FALSE(file->Append("cd").ok());
  EXPECT_TRUE(disk_.crashed());
  EXPECT_FALSE(file->Append("ef").ok());
  EXPECT_FALSE(env()->DeleteFile("/d/f").ok());
  disk_.Revive();
  EXPECT_FALSE(file->Append("gh").ok()) << "opened by the dead process";
  EXPECT_EQ(Bytes("/d/f"), "abc");
  EXPECT_TRUE(env()->DeleteFile("/d/f").ok());
}

TEST_F(MemDiskTest, LocksAreFreeAfterACrash) {
  rocksdb::FileLock *first = nullptr, *second = nullptr;
  ASSERT_TRUE(env()->LockFile("/d/LOCK", &first).ok());
  EXPECT_FALSE(env()->LockFile("/d/LOCK", &second).ok());
  disk_.Crash();
  disk_.Revive();
  ASSERT_TRUE(env()->LockFile("/d/LOCK", &second).ok());
  EXPECT_TRUE(env()->UnlockFile(first).ok()) << "of the dead process: no effect";
  EXPECT_FALSE(env()->LockFile("/d/LOCK", &first).ok());
  EXPECT_TRUE(env()->UnlockFile(second).ok());
}

TEST_F(MemDiskTest, RocksDbRunsOnIt) {
  rocksdb::Options options;
  options.env = env();
  options.create_if_missing = true;
  const auto open = [&](const std::string& path) {
    rocksdb::DB* db = nullptr;
    const rocksdb::Status s = rocksdb::DB::Open(options, path, &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return std::unique_ptr<rocksdb::DB>(db);
  };
  rocksdb::WriteOptions synced;
  synced.sync = true;
  auto db = open("/d/db");
  SyncFolder("/d");
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(db->Put(synced, std::to_string(i), std::string(1000, 'x')).ok());
    if (i % 100 == 50) {
      ASSERT_TRUE(db->Flush({}).ok());
    }
  }
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db.get(), &made).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  const rocksdb::Status copied = checkpoint->CreateCheckpoint("/d/copy");
  EXPECT_TRUE(copied.ok()) << copied.ToString();
  ASSERT_TRUE(db->Put(synced, "last", "x").ok());
  disk_.Crash();
  db.reset();
  disk_.PowerCut(1);
  disk_.Revive();
  std::string value;
  db = open("/d/db");
  EXPECT_TRUE(db->Get({}, "last", &value).ok());
  EXPECT_TRUE(db->Get({}, "299", &value).ok());
  EXPECT_GT(disk_.operations(MemDisk::kSync), 300u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
