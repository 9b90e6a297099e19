// The process dies, or the power is cut, at any operation on the disk while a shard is attached or
// detached. Afterwards the shard is in the database or where it was before, whole, and the other
// shard has all that was acknowledged.

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/faults/attach_faults.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

// Whether the power is cut: what was not synced is forgotten.
class AttachCrashTest : public AttachFaultTest, public ::testing::WithParamInterface<bool> {
 protected:
  // One try: the process dies at the step-th operation of `work`. `after` is told where the shard
  // is to be found. False where the work came to its end.
  bool Try(int step, const std::function<Status()>& work, const std::function<void()>& after) {
    disk_ = base_->Clone();
    OpenWhatIsThere();
    if (HasFailure()) return false;
    disk_->CrashAt(MemDisk::kWriting | MemDisk::kReading, "", step);
    const Status worked = work();
    const bool crashed = disk_->crashed();
    EXPECT_TRUE(worked.ok() || crashed) << worked.ToString();
    disk_->Crash();
    engine_.reset();
    if (GetParam()) disk_->PowerCut(static_cast<uint64_t>(step) + 1);
    disk_->Revive();
    disk_->Clear();
    OpenWhatIsThere();
    if (HasFailure()) return false;
    ExpectWhole(0);
    after();
    EXPECT_FALSE(IsThere(kRemoved)) << "an opening removes what is left of it";
    engine_.reset();
    return crashed;
  }
  void DieAtEach(const std::function<Status()>& work, const std::function<void()>& after) {
    base_ = std::move(disk_);
    int step = 0;
    for (; step < kMostOperations; step = NextStep(step)) {
      SCOPED_TRACE("operation " + std::to_string(step));
      if (!Try(step, work, after)) break;
      if (HasFailure()) break;
    }
    EXPECT_GT(step, 5);
    EXPECT_LT(step, kMostOperations);
  }
  // The shard is attached, or lies whole in `folder`, from where it is attached.
  void ExpectAttachedOrIn(const std::string& folder) {
    if (engine_->AttachedShards().size() < 2) {
      const Status attached = engine_->AttachShard(1, folder);
      ASSERT_TRUE(attached.ok()) << attached.ToString();
    }
    ExpectWhole(1);
  }
};

TEST_P(AttachCrashTest, Attach) {
  Detach(kKept);
  DieAtEach([&] { return engine_->AttachShard(1, kKept); }, [&] { ExpectAttachedOrIn(kKept); });
}

TEST_P(AttachCrashTest, AttachFromElsewhere) {
  Detach(kCopy);
  DieAtEach([&] { return engine_->AttachShard(1, kCopy); }, [&] { ExpectAttachedOrIn(kCopy); });
}

// One that is made: whatever has its name is whole.
TEST_P(AttachCrashTest, AttachEmpty) {
  ASSERT_TRUE(engine_->DetachShard(1, Detached::kRemoved).ok());
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  DieAtEach([&] { return engine_->AttachShard(1, ""); },
            [&] {
              if (engine_->AttachedShards().size() < 2) {
                const Status attached = engine_->AttachShard(1, "");
                ASSERT_TRUE(attached.ok()) << attached.ToString();
              }
              Play(1, "drained");
              Play(1, "staged");
              ExpectWhole(1);
            });
}

// Wherever the process dies: a shard that is attached afterwards says what was lost.
TEST_P(AttachCrashTest, AttachEmptyForALostOne) {
  ASSERT_TRUE(engine_->DetachShard(1, Detached::kRemoved).ok());
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  AttachOptions lost;
  lost.former_lost = "its disk broke";
  DieAtEach([&] { return engine_->AttachShard(1, "", lost); },
            [&] {
              if (engine_->AttachedShards().size() < 2) {
                const Status attached = engine_->AttachShard(1, "", lost);
                ASSERT_TRUE(attached.ok()) << attached.ToString();
              }
              const IdRef items[] = {IdRef("drained")};
              EXPECT_EQ(Ask(1, items).missing, std::vector<std::string>{"log"});
            });
}

// The first thing that happens to it under its name is the last.
TEST_P(AttachCrashTest, AnEmptyOneIsWholeOnceItHasItsName) {
  ASSERT_TRUE(engine_->DetachShard(1, Detached::kRemoved).ok());
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  base_ = std::move(disk_);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    disk_ = base_->Clone();
    ASSERT_NO_FATAL_FAILURE(OpenWhatIsThere());
    disk_->CrashAt(MemDisk::kWriting | MemDisk::kReading, kPlace + "/", 0);
    EXPECT_FALSE(engine_->AttachShard(1, "").ok());
    ASSERT_TRUE(disk_->crashed());
    engine_.reset();
    if (GetParam()) disk_->PowerCut(seed);
    disk_->Revive();
    disk_->Clear();
    ASSERT_TRUE(IsThere(kPlace));
    ASSERT_NO_FATAL_FAILURE(OpenWhatIsThere());
    EXPECT_EQ(engine_->AttachedShards().size(), 2U);
    Play(1, "drained");
    Play(1, "staged");
    ExpectWhole(1);
    engine_.reset();
  }
}

TEST_P(AttachCrashTest, DetachKept) {
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  DieAtEach([&] { return engine_->DetachShard(1, Detached::kKept); },
            [&] { ExpectAttachedOrIn(kKept); });
}

TEST_P(AttachCrashTest, DetachRemoved) {
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  DieAtEach([&] { return engine_->DetachShard(1, Detached::kRemoved); },
            [&] {
              if (engine_->AttachedShards().size() == 2) ExpectWhole(1);
            });
}

// The place has the former one or the copy.
TEST_P(AttachCrashTest, Replace) {
  ASSERT_TRUE(engine_->CheckpointShard(1, kCopy).ok());
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  DieAtEach([&] { return engine_->ReplaceShard(1, kCopy); },
            [&] {
              EXPECT_EQ(engine_->AttachedShards().size(), 2U);
              ExpectWhole(1);
              EXPECT_FALSE(IsThere(kReplaced));
            });
}

INSTANTIATE_TEST_SUITE_P(Each, AttachCrashTest, ::testing::Bool(), [](const auto& at) {
  return std::string(at.param ? "PowerCut" : "Killed");
});

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
