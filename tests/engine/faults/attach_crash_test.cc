// The process dies, or the power is cut, at any operation on the disk while a shard is attached or
// detached. Afterwards the shard is in the database or where it was before, whole, and the other
// shard has all that was acknowledged.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/faults/io_faults.h"
#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb {
namespace {

const std::string kPlace = kPath + "/shard-0001";
const std::string kKept = kPlace + ".detached";
const std::string kRemoved = kPlace + ".removed";
const std::string kReplaced = kPlace + ".replaced";

// Whether the power is cut: what was not synced is forgotten.
class AttachCrashTest : public ::testing::TestWithParam<bool> {
 protected:
  AttachCrashTest() : clock_(kStartMs) {
    options_.background = false;
    options_.shards = 2;
    options_.block_cache_bytes = 1 << 20;
    options_.write_buffer_bytes = 1 << 20;
  }

  // Both shards attached, with plays in tables and in the ring.
  void SetUp() override {
    disk_ = std::make_unique<MemDisk>();
    ASSERT_TRUE(Open().ok());
    for (uint32_t shard = 0; shard < 2; ++shard) {
      users_.push_back(UserOf(shard));
      Play(shard, "drained");
    }
    ASSERT_TRUE(engine_->Drain().ok());
    for (uint32_t shard = 0; shard < 2; ++shard) Play(shard, "staged");
    ASSERT_TRUE(engine_->Sync().ok());
  }

  Status Open() {
    Seams seams;
    seams.clock = &clock_;
    seams.env = disk_->env();
    auto opened = Engine::Open(kPath, options_, seams);
    if (opened.ok()) engine_ = std::move(opened).value();
    return opened.status();
  }
  std::string UserOf(uint32_t shard) {
    for (int i = 0;; ++i) {
      std::string user = "u" + std::to_string(i);
      if (engine_->ShardOf(IdRef(user)) == shard) return user;
    }
  }
  void Play(uint32_t shard, const std::string& item) {
    const seendb::Play play{IdRef(users_[shard]), IdRef(item)};
    ASSERT_TRUE(engine_->RecordPlays({&play, 1}).ok());
  }
  void ExpectWhole(uint32_t shard) {
    const IdRef items[] = {IdRef("drained"), IdRef("staged"), IdRef("never")};
    FilterRequest request;
    request.user = IdRef(users_[shard]);
    request.items = items;
    FilterResponse answer;
    const Status asked = engine_->Filter(request, &answer);
    ASSERT_TRUE(asked.ok()) << asked.ToString();
    EXPECT_FALSE(answer.degraded) << ::testing::PrintToString(answer.missing);
    EXPECT_EQ(answer.unseen, std::vector<uint32_t>{2}) << "shard " << shard;
  }
  bool IsThere(const std::string& path) { return disk_->env()->FileExists(path).ok(); }
  // Opens what is there of the database.
  void OpenWhatIsThere() {
    options_.owned.reset();
    if (!IsThere(kPlace) && !IsThere(kReplaced)) options_.owned = std::vector<uint32_t>{0};
    const Status opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }

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
  // The shard is detached and lies in `folder`, the process has ended.
  void Detach(const std::string& folder) {
    ASSERT_TRUE(engine_->DetachShard(1, Detached::kKept).ok());
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
    if (folder == kKept) return;
    ASSERT_TRUE(disk_->env()->RenameFile(kKept, folder).ok());
    for (const std::string& parent : {kPath, std::string("/data")}) {
      std::unique_ptr<rocksdb::Directory> names;
      ASSERT_TRUE(disk_->env()->NewDirectory(parent, &names).ok());
      ASSERT_TRUE(names->Fsync().ok());
    }
  }

  ManualClock clock_;
  Options options_;
  std::unique_ptr<MemDisk> base_, disk_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::string> users_;
};

TEST_P(AttachCrashTest, Attach) {
  Detach(kKept);
  DieAtEach([&] { return engine_->AttachShard(1, kKept); }, [&] { ExpectAttachedOrIn(kKept); });
}

TEST_P(AttachCrashTest, AttachFromElsewhere) {
  Detach(kCopy);
  DieAtEach([&] { return engine_->AttachShard(1, kCopy); }, [&] { ExpectAttachedOrIn(kCopy); });
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
}  // namespace seendb
