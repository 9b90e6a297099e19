// Each operation on the disk fails once, or from then on for a while, as a shard is attached,
// detached or replaced, and the process lives on. What a call could not do it undoes: once the disk
// works again the shard is attached as before, or lies whole where it lay; nothing that was
// acknowledged is lost, then or after a power cut.

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/faults/attach_faults.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class AttachFailuresTest : public AttachFaultTest, public ::testing::WithParamInterface<int> {
 protected:
  void FailEach(const std::function<Status()>& work, const std::function<void(bool)>& after) {
    base_ = std::move(disk_);
    int step = 0;
    for (; step < kMostOperations; step = NextStep(step)) {
      SCOPED_TRACE("operation " + std::to_string(step));
      if (!Try(step, work, after) || HasFailure()) break;
    }
    EXPECT_GT(step, 5);
    EXPECT_LT(step, kMostOperations);
  }

  // False where nothing was left to fail.
  bool Try(int step, const std::function<Status()>& work, const std::function<void(bool)>& after) {
    disk_ = base_->Clone();
    OpenWhatIsThere();
    if (HasFailure()) return false;
    disk_->Fail(MemDisk::kWriting | MemDisk::kReading, "shard-0001",
                rocksdb::IOStatus::IOError("EIO"), step, GetParam());
    const Status worked = work();
    const bool met = disk_->failures() > 0;
    disk_->Clear();
    for (int i = 0; i < 3; ++i) static_cast<void>(engine_->RunDue());
    after(worked.ok());
    ExpectWhole(0);
    if (HasFailure()) {
      ADD_FAILURE() << "what failed: " << disk_->last_failure() << "; " << worked.ToString();
      return false;
    }
    const bool attached = IsAttached(1);
    if (attached) Play(1, "after");
    EXPECT_TRUE(engine_->Sync().ok());
    disk_->Crash();
    engine_.reset();
    disk_->PowerCut(static_cast<uint64_t>(step) + 1);
    disk_->Revive();
    OpenWhatIsThere();
    if (HasFailure()) return false;
    ExpectWhole(0);
    EXPECT_EQ(IsAttached(1), attached);
    if (attached) {
      ExpectWhole(1);
      ExpectSeen(1, "after");
    }
    EXPECT_FALSE(IsThere(kRemoved));
    EXPECT_FALSE(IsThere(kReplaced));
    engine_.reset();
    return met;
  }

  // Attached, or where it was before, from where it is attached now.
  void ExpectAttachedOrIn(const std::string& folder) {
    if (!IsAttached(1)) {
      const Status attached = engine_->AttachShard(1, folder);
      ASSERT_TRUE(attached.ok()) << attached.ToString();
    }
    ExpectWhole(1);
  }
  void EndProcess() {
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
  }
};

TEST_P(AttachFailuresTest, Attach) {
  Detach(kKept);
  FailEach([&] { return engine_->AttachShard(1, kKept); },
           [&](bool worked) {
             EXPECT_EQ(IsAttached(1), worked);
             ExpectAttachedOrIn(kKept);
           });
}

TEST_P(AttachFailuresTest, AttachFromElsewhere) {
  Detach(kCopy);
  FailEach([&] { return engine_->AttachShard(1, kCopy); },
           [&](bool worked) {
             EXPECT_EQ(IsAttached(1), worked);
             ExpectAttachedOrIn(kCopy);
           });
}

TEST_P(AttachFailuresTest, DetachKept) {
  EndProcess();
  FailEach([&] { return engine_->DetachShard(1, Detached::kKept); },
           [&](bool worked) {
             EXPECT_NE(IsAttached(1), worked);
             ExpectAttachedOrIn(kKept);
           });
}

TEST_P(AttachFailuresTest, DetachRemoved) {
  EndProcess();
  FailEach([&] { return engine_->DetachShard(1, Detached::kRemoved); },
           [&](bool worked) {
             EXPECT_NE(IsAttached(1), worked);
             if (!worked) return ExpectWhole(1);
             EXPECT_FALSE(IsThere(kRemoved)) << "deleted once the disk works";
             const Status made = engine_->AttachShard(1, "");
             ASSERT_TRUE(made.ok()) << made.ToString();
             const Status again = engine_->DetachShard(1, Detached::kRemoved);
             ASSERT_TRUE(again.ok()) << again.ToString();
           });
}

// The former shard, or the copy, which lacks one play.
TEST_P(AttachFailuresTest, Replace) {
  ASSERT_TRUE(engine_->CheckpointShard(1, kCopy).ok());
  Play(1, "later");
  EndProcess();
  FailEach([&] { return engine_->ReplaceShard(1, kCopy); },
           [&](bool worked) {
             ASSERT_TRUE(IsAttached(1));
             ExpectWhole(1);
             if (!worked) ExpectSeen(1, "later");
             EXPECT_NE(IsThere(kCopy), worked);
           });
}

INSTANTIATE_TEST_SUITE_P(Times, AttachFailuresTest, ::testing::Values(1, 40), [](const auto& at) {
  return at.param == 1 ? std::string("Once") : std::string("ForAWhile");
});

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
