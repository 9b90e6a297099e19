// One sync for many callers, through the Env's own handle of the newest log.

#include "store/log_sync.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "store/ordered_files.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;
using rocksdb::IOStatus;

class LogSyncTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(env_->CreateDir("/s").ok());
    std::unique_ptr<rocksdb::Directory> root;
    ASSERT_TRUE(env_->NewDirectory("/", &root).ok());
    ASSERT_TRUE(root->Fsync().ok());
    MakeLog("1");
  }
  void MakeLog(const std::string& name) {
    ASSERT_TRUE(env_->NewWritableFile("/s/00000" + name + ".log", &log_, {}).ok());
  }
  void Write(const std::string& bytes) {
    ASSERT_TRUE(log_->Append(bytes).ok());
    ASSERT_TRUE(log_->Flush().ok());
    ++written_;
  }
  std::string AfterPowerCut(const std::string& path) const {
    disk_->Crash();
    const std::unique_ptr<MemDisk> cut = disk_->Clone();
    cut->PowerCut(1);
    std::string bytes;
    EXPECT_TRUE(cut->Read(path, &bytes)) << path;
    return bytes;
  }
  std::vector<std::thread> SyncBy(int callers, uint64_t sequence, std::atomic<int>* synced) {
    std::vector<std::thread> threads;
    for (int i = 0; i < callers; ++i) {
      threads.emplace_back([this, sequence, synced] {
        if (sync_.SyncTo(sequence).ok()) ++*synced;
      });
    }
    return threads;
  }

  const std::unique_ptr<MemDisk> disk_ = std::make_unique<MemDisk>();
  const std::shared_ptr<OpenLogs> logs_ = std::make_shared<OpenLogs>();
  const std::unique_ptr<rocksdb::Env> env_ = NewOrderedEnv(disk_->env(), logs_);
  std::atomic<uint64_t> written_{0};
  LogSync sync_{"/s", logs_, [this] { return written_.load(); }};
  std::unique_ptr<rocksdb::WritableFile> log_;
};

TEST_F(LogSyncTest, WhatWasWrittenSurvivesAPowerCut) {
  Write("one");
  ASSERT_TRUE(sync_.SyncTo(1).ok());
  EXPECT_EQ(AfterPowerCut("/s/000001.log"), "one");
}

TEST_F(LogSyncTest, TheNewestLogIsSynced) {
  Write("one");
  std::unique_ptr<rocksdb::WritableFile> older = std::move(log_);
  MakeLog("2");
  Write("two");
  older.reset();
  ASSERT_TRUE(sync_.SyncTo(2).ok());
  EXPECT_EQ(AfterPowerCut("/s/000002.log"), "two");
}

TEST_F(LogSyncTest, WhatIsSyncedIsNotSyncedAgain) {
  Write("one");
  Write("two");
  ASSERT_TRUE(sync_.SyncTo(2).ok());
  const uint64_t before = disk_->operations(MemDisk::kSync | MemDisk::kSyncFolder);
  EXPECT_TRUE(sync_.SyncTo(1).ok());
  EXPECT_TRUE(sync_.SyncTo(2).ok());
  EXPECT_EQ(disk_->operations(MemDisk::kSync | MemDisk::kSyncFolder), before);
  Write("three");
  EXPECT_TRUE(sync_.SyncTo(3).ok());
  EXPECT_EQ(disk_->operations(MemDisk::kSync | MemDisk::kSyncFolder), before + 1);
}

TEST_F(LogSyncTest, OneSyncServesAllWhoWait) {
  Write("one");
  ASSERT_TRUE(sync_.SyncTo(1).ok());
  Write("two");
  disk_->Hold(MemDisk::kSync, ".log");
  std::atomic<int> synced{0};
  std::vector<std::thread> threads = SyncBy(1, 2, &synced);
  while (disk_->held() == 0) std::this_thread::sleep_for(1ms);
  Write("three");  // after the sync under way has begun
  for (std::thread& thread : SyncBy(8, 3, &synced)) threads.push_back(std::move(thread));
  std::this_thread::sleep_for(100ms);
  const uint64_t before = disk_->operations(MemDisk::kSync);
  disk_->Clear();
  disk_->Release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(synced, 9);
  EXPECT_EQ(disk_->operations(MemDisk::kSync), before + 1);
}

TEST_F(LogSyncTest, AFailureIsFinalForAll) {
  Write("one");
  disk_->Fail(MemDisk::kSync, ".log", IOStatus::IOError("EIO"), 0, 1);
  EXPECT_TRUE(sync_.SyncTo(1).IsIOError());
  EXPECT_TRUE(sync_.SyncTo(1).IsIOError());
  EXPECT_FALSE(log_->Sync().ok()) << "RocksDB's own sync must not pretend either";
}

TEST_F(LogSyncTest, ASyncOfRocksDBThatFailedIsNotForgotten) {
  Write("one");
  disk_->Fail(MemDisk::kSync, ".log", IOStatus::IOError("EIO"), 0, 1);
  EXPECT_FALSE(log_->Sync().ok());
  EXPECT_TRUE(sync_.SyncTo(1).IsIOError());
}

TEST_F(LogSyncTest, WithoutALogNothingIsPromised) {
  log_.reset();
  EXPECT_FALSE(sync_.SyncTo(1).ok());
}

TEST_F(LogSyncTest, ASyncInOneFolderWaitsForNoneInAnother) {
  ASSERT_TRUE(env_->CreateDir("/other").ok());
  std::unique_ptr<rocksdb::WritableFile> other;
  ASSERT_TRUE(env_->NewWritableFile("/other/000001.log", &other, {}).ok());
  Write("one");
  disk_->Hold(MemDisk::kSync, "/s/");
  std::atomic<int> synced{0};
  std::vector<std::thread> threads = SyncBy(1, 1, &synced);
  while (disk_->held() == 0) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(logs_->SyncNewest("/other").ok());
  EXPECT_TRUE(other->Close().ok());
  EXPECT_EQ(synced, 0);
  disk_->Clear();
  disk_->Release();
  threads[0].join();
  EXPECT_EQ(synced, 1);
}

// Lines of the text log for which the disk has no room are lost, and nothing else happens.
TEST(TextLogDeathTest, ADiskWithoutRoomEndsNoProcess) {
  std::string folder = (std::filesystem::temp_directory_path() / "seendb-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto write_lines = [&folder] {
    const std::unique_ptr<rocksdb::Env> env = NewOrderedEnv(rocksdb::Env::Default());
    std::shared_ptr<rocksdb::Logger> logger;
    if (!env->NewLogger(folder + "/LOG", &logger).ok()) std::_Exit(1);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_FSIZE, &none) != 0) std::_Exit(2);
    for (int i = 0; i < 100; ++i) {
      rocksdb::Log(rocksdb::InfoLogLevel::ERROR_LEVEL, logger, "line %d", i);
      logger->Flush();
    }
    logger->Close().PermitUncheckedError();
    std::_Exit(0);
  };
  EXPECT_EXIT(write_lines(), ::testing::ExitedWithCode(0), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
