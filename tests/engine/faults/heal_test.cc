// The disk fails or fills up at any operation of plays, a drain, a seal, a drop, a checkpoint, and
// works again later: without a restart the database takes writes again, and has all that was
// acknowledged. Reads go on meanwhile.
//
// SEENDB_EVERY_IO=1 takes each operation; otherwise all of the first ones, and fewer of the later.

#include <chrono>
#include <thread>

#include "engine/faults/io_faults.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using rocksdb::IOStatus;

struct Trouble {
  std::string name;
  uint32_t operations;
  IOStatus error;
  bool half;
  int times;  // -1: until the disk works again
};

void PrintTo(const Trouble& trouble, std::ostream* out) { *out << trouble.name; }

std::vector<Trouble> Troubles() {
  return {{"full", MemDisk::kWriting, IOStatus::NoSpace("full"), false, -1},
          {"full_half_way", MemDisk::kAppend, IOStatus::NoSpace("full"), true, -1},
          {"one_EIO", MemDisk::kWriting, IOStatus::IOError("broken"), false, 1},
          {"one_half_write", MemDisk::kAppend, IOStatus::IOError("broken"), true, 1}};
}

class HealTest : public IoFaultTest, public ::testing::WithParamInterface<Trouble> {
 protected:
  void Trip(int step) {
    const Trouble& trouble = GetParam();
    if (trouble.half) {
      disk_->FailShort(trouble.operations, "", trouble.error, step, trouble.times);
    } else {
      disk_->Fail(trouble.operations, "", trouble.error, step, trouble.times);
    }
  }

  // By itself: what the background does is stepped.
  void ComesBack() {
    Status due;
    for (int tries = 0; tries < 3; ++tries) {
      due = engine_->RunDue();
      if (due.ok()) break;
    }
    ASSERT_TRUE(due.ok()) << due.ToString();
    CheckSound();
    ASSERT_TRUE(Play("after").ok());
    for (const Status& status : {engine_->Drain(), engine_->SealClosed(), engine_->DropExpired(),
                                 engine_->Sync(), engine_->Close()}) {
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
    engine_.reset();
    ASSERT_TRUE(Open().ok());
    CheckSound();
  }

  // False where the phase has fewer operations than `step`.
  bool Try(int step, const std::function<Status()>& phase) {
    disk_ = base_->Clone();
    acknowledged_ = promised_;
    EXPECT_TRUE(Open().ok());
    Trip(step);
    const Status status = phase();
    const bool failed = disk_->failures() > 0;
    EXPECT_TRUE(status.ok() || failed) << status.ToString();
    CheckReads(true);
    if (failed && GetParam().times < 0) {
      const Status still = engine_->RunDue();
      EXPECT_TRUE(still.ok() || !still.message().empty());
      CheckReads(true);
    }
    disk_->Clear();
    CheckReads(true);
    ComesBack();
    engine_.reset();
    return failed;
  }

  void HealEach(const std::function<Status()>& phase) {
    const int step = ForEachOperation(GetParam().name, [&](int at) { return Try(at, phase); });
    EXPECT_GT(step, 0);
    EXPECT_LT(step, kMostOperations);
  }
};

TEST_P(HealTest, Plays) {
  HealEach([&] { return PlayAndSync(); });
}

TEST_P(HealTest, Drain) {
  HealEach([&] { return engine_->Drain(); });
}

TEST_P(HealTest, Seal) {
  HealEach([&] { return engine_->SealClosed(); });
}

TEST_P(HealTest, Drop) {
  HealEach([&] { return engine_->DropExpired(); });
}

TEST_P(HealTest, Checkpoint) {
  HealEach([&] { return engine_->Checkpoint(kCopy).status(); });
}

INSTANTIATE_TEST_SUITE_P(Each, HealTest, ::testing::ValuesIn(Troubles()),
                         [](const auto& at) { return at.param.name; });

class HealingTest : public IoFaultTest {
 protected:
  // A shard that takes no writes any more.
  void Break() {
    disk_ = base_->Clone();
    acknowledged_ = promised_;
    ASSERT_TRUE(Open().ok());
    disk_->Fail(MemDisk::kAppend, ".log", IOStatus::NoSpace("full"));
    const Status refused = Play("refused");
    EXPECT_EQ(refused.code(), StatusCode::kIOError);
    disk_->Clear();
    EXPECT_EQ(Play("refused").code(), StatusCode::kIOError);
  }
};

// What comes back may fail on its way, at every operation, and is tried again.
TEST_F(HealingTest, MayFailAndIsTriedAgain) {
  for (int step = 0;; step = NextStep(step)) {
    SCOPED_TRACE("operation " + std::to_string(step));
    ASSERT_LT(step, kMostOperations);
    Break();
    disk_->Fail(MemDisk::kWriting | MemDisk::kRead, "", IOStatus::IOError("again"), step, 1);
    const Status first = engine_->RunDue();
    const bool failed = disk_->failures() > 1;
    disk_->Clear();
    CheckReads(true);
    ASSERT_TRUE(first.ok() || failed) << first.ToString();
    Status second = engine_->RunDue();
    if (!second.ok()) second = engine_->RunDue();  // what failed was healed, not what fell due
    ASSERT_TRUE(second.ok()) << second.ToString() << "; failed: " << disk_->last_failure();
    CheckSound();
    ASSERT_TRUE(Play("after").ok());
    engine_.reset();
    ASSERT_TRUE(Open().ok());
    CheckSound();
    engine_.reset();
    if (!failed) break;
  }
}

// Not even reading works any more: answers say so, nothing ends, and it comes back.
TEST_F(HealingTest, AShardThatCannotBeReadSaysSo) {
  Break();
  disk_->Fail(MemDisk::kReading, "/MANIFEST", IOStatus::IOError("gone"));
  EXPECT_FALSE(engine_->RunDue().ok());
  const IdRef items[] = {IdRef("m2-1"), IdRef("staged")};
  FilterRequest request;
  request.collection = "c";
  request.user = IdRef("u");
  request.items = items;
  FilterResponse answer;
  ASSERT_TRUE(engine_->Filter(request, &answer).ok());
  EXPECT_TRUE(answer.degraded);
  EXPECT_EQ(answer.missing, std::vector<std::string>{"shard"});
  EXPECT_EQ(answer.unseen, std::vector<uint32_t>{0});  // what is staged is known
  EXPECT_EQ(Play("refused").code(), StatusCode::kIOError);
  EXPECT_EQ(engine_->Inspect(IdRef("u")).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->Verify().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->EraseUser(IdRef("u")).code(), StatusCode::kIOError);
  EXPECT_EQ(engine_->PutCollection("d", {}).code(), StatusCode::kIOError);
  EXPECT_FALSE(engine_->Drain().ok());
  EXPECT_FALSE(engine_->Sync().ok());
  EXPECT_FALSE(engine_->Checkpoint(kCopy).ok());
  EXPECT_TRUE(engine_->Stats().degraded);
  EXPECT_TRUE(engine_->Buckets().empty());
  disk_->Clear();
  const Status due = engine_->RunDue();
  ASSERT_TRUE(due.ok()) << due.ToString();
  CheckSound();
  ASSERT_TRUE(Play("after").ok());
  CheckReads(false);
}

// With everything on threads: a disk that was full has room again.
TEST_F(HealingTest, AFullDiskHealsInTheBackground) {
  disk_ = base_->Clone();
  acknowledged_ = promised_;
  options_.background = true;
  ASSERT_TRUE(Open().ok());
  disk_->SetCapacity(disk_->used());
  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) status = Play("p" + std::to_string(i));
  EXPECT_EQ(status.code(), StatusCode::kIOError);
  CheckReads(true);
  EXPECT_TRUE(engine_->Stats().degraded);
  const auto says = [&](std::string_view text) {
    const std::vector<std::string> problems = engine_->Stats().problems;
    return std::any_of(problems.begin(), problems.end(), [&](const std::string& problem) {
      return problem.find(text) != std::string::npos;
    });
  };
  // Whenever one looks: how much room it waits for.
  for (int waited = 0; waited < 300 && !says("the disk is full: needs "); ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(says("the disk is full: needs "));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  disk_->SetCapacity(MemDisk::kUnlimited);
  const auto room_at = std::chrono::steady_clock::now();
  for (int waited = 0; waited < 1'200; ++waited) {
    status = Play("after");
    if (status.ok()) break;
    CheckReads(true);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_LT(std::chrono::steady_clock::now() - room_at, std::chrono::seconds(7))
      << "a try after each second, not the pause that grows to 8 s";
  // The lane of healing tells of its last try until its next look.
  for (int waited = 0; waited < 50 && says("the disk is full"); ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_FALSE(says("the disk is full"));
  ASSERT_TRUE(engine_->Drain().ok());
  CheckReads(false);
  engine_.reset();
  ASSERT_TRUE(Open().ok());
  CheckReads(false);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
