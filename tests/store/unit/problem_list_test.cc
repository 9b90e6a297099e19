#include "store/problem_list.h"

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

using Texts = std::vector<std::string>;

TEST(ProblemListTest, NotesEachTextOnce) {
  ProblemList list;
  list.Add("seal video/2026-11: no room");
  list.Add("sync: no room");
  list.Add("seal video/2026-11: no room");
  EXPECT_EQ(list.problems(), (Texts{"seal video/2026-11: no room", "sync: no room"}));
  list.Clear("seal ");
  EXPECT_EQ(list.problems(), Texts{"sync: no room"});
}

TEST(ProblemListTest, IsLimited) {
  ProblemList list;
  for (int i = 0; i < 1000; ++i) list.Add("problem " + std::to_string(i));
  EXPECT_EQ(list.problems().size(), 20U);
}

TEST(ProblemListTest, KeepsTheFirstReasonForWhichWritesStop) {
  ProblemList list;
  EXPECT_FALSE(list.stopped());
  list.Stop("the disk is full");
  list.Stop("RocksDB is read-only");
  EXPECT_TRUE(list.stopped());
  EXPECT_EQ(list.why_stopped(), "the disk is full");
}

TEST(ProblemListTest, BeginsAnewWithTheDatabase) {
  ProblemList list;
  rocksdb::Status failed = rocksdb::Status::IOError("EIO");
  list.OnBackgroundError(rocksdb::BackgroundErrorReason::kFlush, &failed);
  list.Add("seal video/2026-11: EIO");
  EXPECT_EQ(list.problems().size(), 2U);
  list.Stop("EIO");
  list.Begin();
  EXPECT_FALSE(list.stopped());
  EXPECT_EQ(list.why_stopped(), "");
  EXPECT_EQ(list.problems(), Texts{"seal video/2026-11: EIO"});
}

// RocksDB would refuse all writes of the shard for one file that can't be read.
TEST(ProblemListTest, ADamagedFileStopsItsCompactionAlone) {
  ProblemList list;
  rocksdb::Status damaged = rocksdb::Status::Corruption("block checksum mismatch");
  list.OnBackgroundError(rocksdb::BackgroundErrorReason::kCompaction, &damaged);
  EXPECT_TRUE(damaged.ok());
  EXPECT_FALSE(list.stopped());
  EXPECT_EQ(list.problems().size(), 1U);
}

// RocksDB's own recovery goes on behind a log whose end is torn.
TEST(ProblemListTest, RocksDBDoesNotRecoverFromAHardError) {
  ProblemList list;
  bool recover = true;
  list.OnErrorRecoveryBegin(
      rocksdb::BackgroundErrorReason::kFlush,
      rocksdb::Status(rocksdb::Status::IOError("EIO"), rocksdb::Status::Severity::kHardError),
      &recover);
  EXPECT_FALSE(recover);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
