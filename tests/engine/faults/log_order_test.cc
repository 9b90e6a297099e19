// What is left of a shard's logs: the newer never without the older, and no half record at the end.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "store/ordered_files.h"
#include "store/shard_logs.h"
#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

void Append(rocksdb::WritableFile* file, const std::string& bytes) {
  ASSERT_TRUE(file->Append(bytes).ok());
  ASSERT_TRUE(file->Flush().ok());
}

TEST(OrderedFilesTest, APowerCutLeavesNoNewerLogWithoutTheOlder) {
  MemDisk disk;
  const std::unique_ptr<rocksdb::Env> env = NewOrderedEnv(disk.env());
  ASSERT_TRUE(env->CreateDir("/s").ok());
  std::unique_ptr<rocksdb::Directory> root;
  ASSERT_TRUE(env->NewDirectory("/", &root).ok());
  ASSERT_TRUE(root->Fsync().ok());
  std::unique_ptr<rocksdb::WritableFile> older, newer;
  ASSERT_TRUE(env->NewWritableFile("/s/000001.log", &older, {}).ok());
  Append(older.get(), "older");
  ASSERT_TRUE(env->NewWritableFile("/s/000002.log", &newer, {}).ok());
  Append(newer.get(), "newer");
  disk.Crash();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::unique_ptr<MemDisk> cut = disk.Clone();
    cut->PowerCut(seed);
    std::string bytes;
    ASSERT_TRUE(cut->Read("/s/000001.log", &bytes)) << seed;
    EXPECT_EQ(bytes, "older") << seed;
  }
}

class LogTailTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NO_FATAL_FAILURE(Make(kRecords)); }
  // A database of one log with so many records.
  void Make(int records) {
    rocksdb::Options options;
    options.env = disk_.env();
    options.create_if_missing = true;
    ASSERT_TRUE(rocksdb::DestroyDB("/s", options).ok());
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, "/s", &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    for (int i = 0; i < records; ++i) {
      ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(100, 'x')).ok());
    }
    const std::vector<std::string> logs = disk_.Files(".log");
    ASSERT_EQ(logs.size(), 1u);
    log_ = logs[0];
    ASSERT_TRUE(disk_.Read(log_, &sound_));
  }
  Status Cut(const std::string& folder, std::optional<uint64_t> synced) {
    ShardLogs logs;
    logs.synced = synced;
    const Status read = ReadLogs(disk_.env(), folder, &logs);
    return read.ok() ? CutTornTails(disk_.env(), folder, logs) : read;
  }
  std::string AfterCut(const std::string& bytes, std::optional<uint64_t> synced) {
    EXPECT_TRUE(disk_.Write(log_, bytes));
    const Status cut = Cut("/s", synced);
    EXPECT_TRUE(cut.ok()) << cut.ToString();
    std::string after;
    EXPECT_TRUE(disk_.Read(log_, &after));
    return after;
  }

  static constexpr int kRecords = 5;
  MemDisk disk_;
  std::string log_, sound_;
};

TEST_F(LogTailTest, HalfARecordGoes) {
  for (const size_t torn : {1U, 7U, 20U, 60U}) {
    EXPECT_EQ(AfterCut(sound_ + sound_.substr(0, torn), {}), sound_) << torn;
    EXPECT_EQ(AfterCut(sound_ + sound_.substr(0, torn), kRecords), sound_) << torn;
  }
  EXPECT_EQ(AfterCut(sound_, {}), sound_);
}

TEST_F(LogTailTest, WhatMayHaveBeenSyncedStays) {
  const std::string torn = sound_ + sound_.substr(0, 60);
  EXPECT_EQ(AfterCut(torn, kRecords + 1), torn);
}

// Begun after the torn one was full, or while it was written.
TEST_F(LogTailTest, TheTornLogIsCutBehindANewerOneThatIsEmpty) {
  const std::string newer = "/s/999999.log";
  const std::string torn = sound_ + sound_.substr(0, 60);
  for (const size_t begun : {0U, 5U, 40U}) {
    SCOPED_TRACE(begun);
    const std::string half = sound_.substr(0, begun);
    ASSERT_TRUE(rocksdb::WriteStringToFile(disk_.env(), half, newer, true).ok());
    EXPECT_EQ(AfterCut(torn, {}), sound_);
    std::string after;
    ASSERT_TRUE(disk_.Read(newer, &after));
    EXPECT_EQ(after, "");
  }
  // Half a record that was synced is damage, and nothing is cut.
  const std::string half = sound_.substr(0, 40);
  ASSERT_TRUE(rocksdb::WriteStringToFile(disk_.env(), half, newer, true).ok());
  EXPECT_EQ(AfterCut(torn, kRecords), torn);
  std::string after;
  ASSERT_TRUE(disk_.Read(newer, &after));
  EXPECT_EQ(after, half);
}

// A newer log with records was begun after this one was synced: its end is no torn one.
TEST_F(LogTailTest, TheEndOfAnOlderLogStays) {
  ASSERT_TRUE(rocksdb::WriteStringToFile(disk_.env(), sound_, "/s/999999.log", true).ok());
  const std::string torn = sound_ + sound_.substr(0, 60);
  EXPECT_EQ(AfterCut(torn, {}), torn);
}

TEST_F(LogTailTest, WithoutLogsThereIsNothingToCut) {
  ASSERT_TRUE(disk_.Remove(log_));
  EXPECT_TRUE(Cut("/s", 7).ok());
  EXPECT_FALSE(Cut("/nowhere", 7).ok());
}

TEST_F(LogTailTest, AFailureToCutIsTold) {
  disk_.Fail(MemDisk::kTruncate, log_, rocksdb::IOStatus::IOError("injected"));
  const std::string torn = sound_ + sound_.substr(0, 60);
  ASSERT_TRUE(disk_.Write(log_, torn));
  const Status cut = Cut("/s", {});
  EXPECT_EQ(cut.code(), StatusCode::kIOError);
  EXPECT_NE(cut.message().find(log_), std::string::npos) << cut.ToString();
}

// Within a block of the log, 32 KiB, damage looks like a torn end; before another one it does not.
TEST_F(LogTailTest, DamageInFrontOfABlockIsNoTornEnd) {
  ASSERT_NO_FATAL_FAILURE(Make(500));
  ASSERT_GT(sound_.size(), size_t{32768});
  std::string damaged = sound_;
  damaged[20] = static_cast<char>(~damaged[20]);
  EXPECT_EQ(AfterCut(damaged, {}), damaged);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
