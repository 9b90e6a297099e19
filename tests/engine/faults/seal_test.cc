// A seal that fails rests longer each time, says so meanwhile, and heals; one that is running keeps
// nobody from closing.

#include <chrono>
#include <future>
#include <thread>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kFebruary = kStartMs - 30 * kDayMs;

class SealTest : public EngineTest {
 protected:
  SealTest() {
    options_.shards = 1;
    options_.maintenance_begin_minute = options_.maintenance_end_minute = 0;  // always
    env_ = disk_.env();
  }
  ~SealTest() override {
    disk_.Release();
    disk_.Clear();
    engine_.reset();
  }
  bool HasProblem(const std::string& text) {
    const EngineStats stats = engine_->Stats();
    return std::any_of(
        stats.problems.begin(), stats.problems.end(),
        [&](const std::string& problem) { return problem.find(text) != std::string::npos; });
  }
  BucketState FebruarysState() {
    for (const BucketInfo& info : engine_->Buckets()) {
      if (info.bucket == "2026-02") return info.state;
    }
    ADD_FAILURE() << "there is no February";
    return BucketState::kExpired;
  }
  // Until it holds; what is waited for must last.
  template <typename Condition>
  static bool Eventually(const Condition& holds) {
    for (int tried = 0; tried < 60'000; ++tried) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  MemDisk disk_;
};

TEST_F(SealTest, OneThatFailsRestsLongerEachTime) {
  Open();
  RunDue();  // what was due before
  Play("u1", Numbered("f", 300), kFebruary);
  Drain();
  disk_.SetCapacity(disk_.used() + (8 << 20));  // takes writes; a seal asks for more
  ASSERT_EQ(FebruarysState(), BucketState::kClosed);
  clock_.Advance(1);  // the present has been looked at
  const auto failures = [this] { return engine_->Stats().seal_failures; };
  EXPECT_EQ(engine_->RunDue().code(), StatusCode::kIOError);
  EXPECT_EQ(failures(), 1u);
  EXPECT_TRUE(HasProblem("seal default/2026-02: io_error: sealing 2026-02 needs"));
  uint64_t expected = 1;
  for (int64_t pause_ms = 10'000; expected < 15;
       pause_ms = std::min<int64_t>(2 * pause_ms, kHourMs)) {
    RunDue();
    clock_.Advance(pause_ms - 1);
    RunDue();
    EXPECT_EQ(failures(), expected) << "before " << pause_ms << " ms";
    EXPECT_TRUE(HasProblem("seal default/2026-02")) << "while it rests";
    clock_.Advance(1);
    EXPECT_FALSE(engine_->RunDue().ok());
    ASSERT_EQ(failures(), ++expected) << "after " << pause_ms << " ms";
  }
  EXPECT_FALSE(engine_->SealClosed().ok()) << "by hand there is no rest";
  EXPECT_EQ(failures(), ++expected);
  EXPECT_EQ(Unseen("u1", {"f1", "new"}), Items{"new"});
  clock_.Advance(-5 * kDayMs);
  RunDue();
  clock_.Advance(1);
  EXPECT_FALSE(engine_->RunDue().ok()) << "a clock that went back makes nobody wait";
  EXPECT_EQ(failures(), ++expected);
  clock_.Advance(5 * kDayMs);
  disk_.SetCapacity(MemDisk::kUnlimited);
  RunDue();
  EXPECT_EQ(FebruarysState(), BucketState::kSealed);
  EXPECT_FALSE(engine_->Stats().degraded) << engine_->Stats().problems.at(0);
  EXPECT_EQ(failures(), expected);
}

TEST_F(SealTest, OneOfABucketThatIsDroppedIsNoProblemAnyMore) {
  Open();
  Play("u1", Numbered("f", 300), kFebruary);
  Drain();
  disk_.SetCapacity(disk_.used() + (8 << 20));
  EXPECT_FALSE(engine_->Seal("default", "2026-03").ok());
  EXPECT_FALSE(engine_->Stats().degraded) << "the current one is sealed when its time comes";
  EXPECT_FALSE(engine_->Seal("default", "2026-02").ok());
  EXPECT_TRUE(HasProblem("seal default/2026-02"));
  clock_.Advance(200 * kDayMs);
  ASSERT_TRUE(engine_->DropExpired().ok());
  EXPECT_FALSE(HasProblem("seal default/2026-02"));
}

// Whoever scans sees the shard giving up; the seal, held by the disk all the while, then ends.
TEST_F(SealTest, CloseGivesUpOneThatRuns) {
  Open();
  for (int user = 0; user < 100; ++user) {
    Play("u" + std::to_string(user), Numbered("f", 300), kFebruary);
  }
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  options_.background = true;
  disk_.Hold(MemDisk::kCreate, ".sst");
  Open();
  clock_.Advance(1);  // the present has been looked at
  ASSERT_TRUE(Eventually([this] { return disk_.held() > 0; })) << "no seal began";
  std::promise<void> scanning;
  std::future<Status> scanned = std::async(std::launch::async, [&] {
    bool first = true;
    return engine_->Scan("seen/", [&](const ScanRow&) {
      if (std::exchange(first, false)) scanning.set_value();
      Eventually([this] { return engine_->Sync().code() == StatusCode::kClosed; });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return true;
    });
  });
  scanning.get_future().wait();
  std::future<Status> closed = std::async(std::launch::async, [&] { return engine_->Close(); });
  EXPECT_EQ(scanned.get().code(), StatusCode::kUnavailable);
  disk_.Release();
  const Status close = closed.get();
  EXPECT_TRUE(close.ok()) << close.ToString();
  engine_.reset();
  options_.background = false;
  Open();
  EXPECT_EQ(FebruarysState(), BucketState::kClosed) << "it was not waited for";
  EXPECT_EQ(Unseen("u7", {"f299", "new"}), Items{"new"});
  ASSERT_TRUE(engine_->SealClosed().ok());
  EXPECT_EQ(FebruarysState(), BucketState::kSealed);
  EXPECT_EQ(Unseen("u7", {"f299", "new"}), Items{"new"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
