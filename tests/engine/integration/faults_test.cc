// Disks that fill up and fail: what was acknowledged is never lost, a repeat heals, and while
// writing is impossible reading goes on.

#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "seendb/repair.h"
#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using rocksdb::IOStatus;

class FaultsTest : public EngineTest {
 protected:
  FaultsTest() {
    options_.shards = 1;
    env_ = disk_.env();
  }
  ~FaultsTest() override {
    disk_.Clear();
    engine_.reset();
  }

  // Records one play; notes it if it was acknowledged.
  Status TryPlay(const std::string& item) {
    const seendb::Play play{IdRef("u1"), IdRef(item)};
    const auto recorded = engine_->RecordPlays({&play, 1});
    if (recorded.ok()) acknowledged_.insert(item);
    return recorded.status();
  }
  void ExpectNothingLost(const std::string& when) {
    const Items all(acknowledged_.begin(), acknowledged_.end());
    EXPECT_EQ(Unseen("u1", all), Items{}) << when;
    EXPECT_FALSE(answer_.degraded) << when;
  }
  Status Repaired() {
    Seams seams;
    seams.clock = &clock_;
    seams.env = env_;
    return Repair(Path(), {}, seams).status();
  }
  // RocksDB looks for free space every few seconds; then it takes writes again.
  Status Eventually(const std::function<Status()>& work) {
    Status status;
    for (int tried = 0; tried < 1'200; ++tried) {
      status = work();
      if (status.ok()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return status;
  }

  MemDisk disk_;
  std::set<std::string> acknowledged_;
};

TEST_F(FaultsTest, AFullDiskDuringADrainLosesNothing) {
  Open();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(TryPlay("v" + std::to_string(i)).ok());
  disk_.Fail(MemDisk::kAppend | MemDisk::kCreate, "", IOStatus::NoSpace("injected"));
  EXPECT_FALSE(engine_->Drain().ok());
  EXPECT_GT(disk_.failures(), 0u);
  ExpectNothingLost("while the disk is full");
  EXPECT_EQ(engine_->Stats().drain_failures, 1u);
  EXPECT_GT(engine_->Stats().ring_plays, 0u) << "the slot stays";
  const Status refused = TryPlay("refused");
  EXPECT_EQ(refused.code(), StatusCode::kIOError) << refused.ToString();
  // Whether RocksDB takes writes again by itself depends on which file met the full disk; opening
  // again always heals.
  disk_.Clear();
  Reopen();
  ExpectNothingLost("reopened");
  EXPECT_FALSE(engine_->Stats().degraded);
  Drain();
  EXPECT_EQ(engine_->Stats().ring_plays, 0u);
  EXPECT_TRUE(TryPlay("after").ok());
  ExpectNothingLost("drained");
}

TEST_F(FaultsTest, ALockThatTheDiskRefusesIsNoOtherProcess) {
  Open();
  engine_.reset();
  for (const IOStatus& error : {IOStatus::NoSpace("/LOCK", "No space left on device"),
                                IOStatus::IOError("/LOCK", "Read-only file system")}) {
    disk_.Fail(MemDisk::kOpen, "/LOCK", error);
    for (const Status& refused : {TryOpen(), Repaired()}) {
      EXPECT_EQ(refused.code(), StatusCode::kIOError) << refused.ToString();
      EXPECT_NE(refused.message().find(Path() + "/LOCK can't be opened"), std::string::npos);
      EXPECT_NE(refused.message().find(error.getState()), std::string::npos) << refused.ToString();
    }
    disk_.Clear();
  }
  Open();
  EXPECT_EQ(Repaired().code(), StatusCode::kBusy);
}

// EIO on the log stops RocksDB's writing for good: reads go on, and opening again heals.
TEST_F(FaultsTest, AFailingLogKeepsReadsAndHealsWhenOpenedAgain) {
  Open();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(TryPlay("v" + std::to_string(i)).ok());
  Drain();
  ASSERT_TRUE(TryPlay("staged").ok());
  disk_.Fail(MemDisk::kAppend | MemDisk::kSync, ".log", IOStatus::IOError("injected"));
  EXPECT_EQ(TryPlay("refused").code(), StatusCode::kIOError);
  EXPECT_FALSE(engine_->Drain().ok());
  ExpectNothingLost("the log fails");
  disk_.Clear();
  EXPECT_TRUE(engine_->Stats().degraded);
  EXPECT_FALSE(engine_->EraseUser(IdRef("u1")).ok()) << "an erasure must be synced";
  ExpectNothingLost("the erasure failed");
  Reopen();
  ExpectNothingLost("reopened");
  EXPECT_FALSE(engine_->Stats().degraded);
  ASSERT_TRUE(TryPlay("after").ok());
  Drain();
  ExpectNothingLost("drained");
}

// Every single write, sync, creation and rename of a drain and the next plays fails once.
TEST_F(FaultsTest, WhicheverStepOfADrainFailsNothingIsLost) {
  Open();
  int survived = 0;
  for (int step = 0; step < 40; ++step) {
    const std::string name = std::to_string(step);
    ASSERT_TRUE(TryPlay("a" + name).ok());
    disk_.Fail(MemDisk::kWriting, "/shard-", IOStatus::IOError("injected"), step, 1);
    const uint64_t failures = disk_.failures();
    Status status = engine_->Drain();
    if (status.ok()) status = TryPlay("b" + name);
    if (status.ok()) status = engine_->Sync();
    ExpectNothingLost("step " + name);
    if (disk_.failures() == failures) {
      disk_.Clear();
      ASSERT_TRUE(status.ok()) << status.ToString();
      ASSERT_GT(step, 5) << "the faults were never met";
      return;
    }
    disk_.Clear();
    // RocksDB may have stopped writing; then only opening again helps.
    Status retried = engine_->Drain();
    if (retried.ok()) retried = TryPlay("c" + name);
    survived += retried.ok() ? 1 : 0;
    ExpectNothingLost("retried, step " + name);
    if (!retried.ok()) {
      Reopen();
      ExpectNothingLost("reopened, step " + name);
      Drain();
    }
    ExpectNothingLost("drained, step " + name);
  }
  EXPECT_GT(survived, 0);
}

// The same for openings: whatever fails, a later opening has everything.
TEST_F(FaultsTest, WhicheverStepOfAnOpeningFailsTheNextOneHasEverything) {
  Open();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(TryPlay("v" + std::to_string(i)).ok());
  Drain();
  ASSERT_TRUE(TryPlay("staged").ok());
  int failed = 0;
  for (int step = 0; step < 120; step += 1 + step / 10) {
    engine_.reset();
    disk_.Fail(MemDisk::kWriting, "db/", IOStatus::IOError("injected"), step, 1);
    if (TryOpen().ok()) {
      ExpectNothingLost("opened in spite of step " + std::to_string(step));
    } else {
      ++failed;
    }
    engine_.reset();
    disk_.Clear();
    Open();
    ExpectNothingLost("after step " + std::to_string(step));
    const Status played = TryPlay("after" + std::to_string(step));
    ASSERT_TRUE(played.ok()) << played.ToString();
    if (step % 3 == 0) Drain();  // each opening takes a slot until it is drained
  }
  EXPECT_GT(failed, 0);
}

// A first opening that fails anywhere leaves what a second can finish.
TEST_F(FaultsTest, AFirstOpeningThatFailsCanBeRepeated) {
  int failed = 0;
  for (int step = 0; step < 90; step += 1 + step / 3) {
    MemDisk disk;
    env_ = disk.env();
    disk.Fail(MemDisk::kWriting, "db/", IOStatus::IOError("injected"), step, 1);
    failed += TryOpen().ok() ? 0 : 1;
    engine_.reset();
    disk.Clear();
    Open();
    ASSERT_TRUE(TryPlay("v").ok()) << "step " << step;
    Drain();
    ExpectNothingLost("step " + std::to_string(step));
    engine_.reset();
    acknowledged_.clear();
  }
  EXPECT_GT(failed, 0);
}

// Too little disk for a seal is said before it begins; the next one finds it.
TEST_F(FaultsTest, ASealThatFailsIsRepeated) {
  Open();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(TryPlay("v" + std::to_string(i)).ok());
  Drain();
  disk_.Fail(MemDisk::kAppend | MemDisk::kCreate, ".sst", IOStatus::NoSpace("injected"));
  EXPECT_FALSE(engine_->Seal("default", "2026-03").ok());
  ExpectNothingLost("the seal failed");
  disk_.Clear();
  const Status sealed = Eventually([&] { return engine_->Seal("default", "2026-03"); });
  ASSERT_TRUE(sealed.ok()) << sealed.ToString();
  ExpectNothingLost("sealed");
  const auto report = engine_->Inspect(IdRef("u1"));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->buckets.at(0).form, FilterForm::kSealed);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
