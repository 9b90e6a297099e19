// Lanes of background work: who comes when, and whom one that takes long keeps waiting.

#include "scheduler.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/sync.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

// Counts how often work ran on each shard; a shard can be held in its work.
class Work {
 public:
  Status Run(uint32_t shard) {
    const MutexLock lock(mutex_);
    ++begun_[shard];
    if (++running_[shard] > 1) ++together_;
    changed_.NotifyAll();
    while (held_ == shard) changed_.Wait(mutex_);
    --running_[shard];
    ++ended_[shard];
    changed_.NotifyAll();
    return failing_ == shard ? Status::IOError("no room") : Status();
  }
  void Hold(uint32_t shard) { Set(&held_, shard); }
  void Release() { Set(&held_, kNone); }
  void Fail(uint32_t shard) { Set(&failing_, shard); }
  // Waits until work has begun on the shard so many times more.
  void AwaitBegun(uint32_t shard, int more) { Await(&begun_, shard, more); }
  void AwaitEnded(uint32_t shard, int more) { Await(&ended_, shard, more); }
  int together() {
    const MutexLock lock(mutex_);
    return together_;
  }

  static constexpr uint32_t kNone = 1'000;

 private:
  void Set(uint32_t* member, uint32_t shard) {
    const MutexLock lock(mutex_);
    *member = shard;
    changed_.NotifyAll();
  }
  void Await(std::map<uint32_t, int>* counts, uint32_t shard, int more) {
    const MutexLock lock(mutex_);
    const int wanted = (*counts)[shard] + more;
    while ((*counts)[shard] < wanted) changed_.Wait(mutex_);
  }

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_;
  std::map<uint32_t, int> begun_, ended_, running_;
  int together_ = 0;
  uint32_t held_ = kNone, failing_ = kNone;
};

class SchedulerTest : public testing::Test {
 protected:
  Lane LaneOf(const char* name, Work* work, uint32_t shards) {
    return {name, 1ms, shards, 2, [work](uint32_t shard) { return work->Run(shard); }};
  }

  ProblemList problems_;
  Counters counters_;
};

TEST_F(SchedulerTest, EachShardHasItsTurnAgainAndAgainAndOnceAtATime) {
  Work work;
  {
    const Scheduler scheduler({LaneOf("drain", &work, 5)}, &problems_, &counters_);
    for (uint32_t shard = 0; shard < 5; ++shard) work.AwaitEnded(shard, 20);
  }
  EXPECT_EQ(work.together(), 0);
}

TEST_F(SchedulerTest, AShardThatTakesLongKeepsNoOtherWaiting) {
  Work work;
  const Scheduler scheduler({LaneOf("drain", &work, 4)}, &problems_, &counters_);
  work.Hold(2);
  work.AwaitBegun(2, 1);
  for (const uint32_t shard : {0U, 1U, 3U}) work.AwaitEnded(shard, 20);
  work.Release();
  work.AwaitEnded(2, 2);
}

TEST_F(SchedulerTest, ALaneThatIsHeldUpKeepsNoOtherLaneWaiting) {
  Work seals, syncs;
  const Scheduler scheduler({LaneOf("maintenance", &seals, 1), LaneOf("sync", &syncs, 1)},
                            &problems_, &counters_);
  seals.Hold(0);
  seals.AwaitBegun(0, 1);
  syncs.AwaitEnded(0, 20);
  seals.Release();
}

TEST_F(SchedulerTest, AFailureIsAProblemOfItsShardUntilItWorksAgain) {
  Work work;
  work.Fail(1);
  const Scheduler scheduler({LaneOf("sync", &work, 2)}, &problems_, &counters_);
  std::vector<std::string> problems;
  while (problems.empty()) problems = problems_.problems();  // it is cleared amid each run
  EXPECT_TRUE(problems.front().starts_with("sync of shard 1: ")) << problems.front();
  EXPECT_GE(counters_.background_errors.load(), 1U);
  work.Fail(Work::kNone);
  work.AwaitEnded(1, 3);
  EXPECT_TRUE(problems_.problems().empty());
}

TEST_F(SchedulerTest, ItsEndWaitsForTheWorkUnderWay) {
  Work work;
  auto scheduler = std::make_unique<Scheduler>(std::vector<Lane>{LaneOf("drain", &work, 1)},
                                               &problems_, &counters_);
  work.Hold(0);
  work.AwaitBegun(0, 1);
  std::thread end([&] { scheduler.reset(); });
  work.Release();
  end.join();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
