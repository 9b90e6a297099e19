// A shard was opened anew after its disk failed, and what only memory has is not drained yet: it
// takes nothing of a log. An offset that it stored then would lie beyond plays that a kill takes.

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "seendb/ingest.h"
#include "store/sources.h"
#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class RecoveringTest : public EngineTest {
 protected:
  RecoveringTest() {
    options_.shards = 1;
    env_ = disk_.env();
  }
  void TearDown() override { engine_.reset(); }

  // Messages of the log, each a play of one item. The caller knows where it was: it goes on there,
  // whatever the shard has stored.
  Status Ingest(int64_t from, int64_t to) {
    const Items items = Numbered("v", static_cast<int>(to));
    std::vector<seendb::Play> plays;
    std::vector<Origin> origins;
    for (int64_t offset = from; offset < to; ++offset) {
      plays.push_back({IdRef("u"), IdRef(items[static_cast<size_t>(offset)])});
      origins.push_back({0, offset});
    }
    const SourceStep step{"plays", 0, to};
    return engine_->Ingest({.sources = {&step, 1}, .plays = plays, .origins = origins}).status();
  }
  // The shard takes no writes. Memory alone has messages 10 to 19: the log lost them, with their
  // offset, in a sync that failed.
  void LoseWhatWasNotSynced() {
    Open();
    ASSERT_TRUE(Ingest(0, 10).ok());
    ASSERT_TRUE(engine_->Sync().ok());
    const std::vector<std::string> logs = disk_.Files(".log");
    ASSERT_EQ(logs.size(), 1u);
    std::string synced, all;
    ASSERT_TRUE(disk_.Read(logs[0], &synced));
    ASSERT_TRUE(Ingest(10, 20).ok());
    ASSERT_TRUE(disk_.Read(logs[0], &all));
    ASSERT_GT(all.size(), synced.size());
    disk_.Fail(MemDisk::kSync, ".log", rocksdb::IOStatus::IOError("broken"), 0, 1);
    ASSERT_FALSE(engine_->Sync().ok());
    ASSERT_TRUE(disk_.Write(logs[0], synced));
  }
  // If the process were killed now: the next one has all plays below the offset that it reads on
  // from.
  void ExpectNothingLostByAKill() {
    const std::unique_ptr<MemDisk> left = disk_.Clone();
    left->Crash();
    left->Revive();
    Seams seams;
    seams.clock = &clock_;
    seams.env = left->env();
    auto opened = Engine::Open(Path(), options_, seams);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    const std::vector<SourceInfo> sources = (*opened)->Sources();
    ASSERT_EQ(sources.size(), 1u);
    ASSERT_TRUE(sources[0].next_offset.has_value());
    const Items read = Numbered("v", static_cast<int>(*sources[0].next_offset));
    engine_.swap(*opened);
    EXPECT_EQ(Unseen("u", read), Items{}) << "never read again: the next is " << read.size();
    engine_.swap(*opened);
  }

  MemDisk disk_;
};

TEST_F(RecoveringTest, BeforeItIsDrainedItTakesNothingOfALog) {
  SEENDB_NEEDS_PAUSE_POINTS();
  ASSERT_NO_FATAL_FAILURE(LoseWhatWasNotSynced());
  Hold hold("heal: opened anew");
  std::future<Status> due = std::async(std::launch::async, [this] { return engine_->RunDue(); });
  ASSERT_TRUE(hold.WaitReached());
  EXPECT_EQ(Play("u", {"other"}), 1u) << "what is no log is taken";
  EXPECT_EQ(Ingest(20, 30).code(), StatusCode::kBusy);
  ExpectNothingLostByAKill();
  hold.Release();
  const Status done = due.get();
  ASSERT_TRUE(done.ok()) << done.ToString();
  EXPECT_TRUE(Ingest(20, 30).ok());
  ExpectNothingLostByAKill();
  EXPECT_EQ(Unseen("u", Numbered("v", 30)), Items{});
}

// A call that waits keeps the slot from being drained.
TEST_F(RecoveringTest, ADrainThatFailsIsTriedAgain) {
  SEENDB_NEEDS_PAUSE_POINTS();
  ASSERT_NO_FATAL_FAILURE(LoseWhatWasNotSynced());
  Hold hold("record: pinned");
  std::future<uint64_t> played =
      std::async(std::launch::async, [this] { return Play("u", {"late"}); });
  ASSERT_TRUE(hold.WaitReached());
  EXPECT_EQ(engine_->RunDue().code(), StatusCode::kBusy);
  EXPECT_EQ(Ingest(20, 30).code(), StatusCode::kBusy);
  ExpectNothingLostByAKill();
  hold.Release();
  EXPECT_EQ(played.get(), 1u);
  RunDue();
  EXPECT_TRUE(Ingest(20, 30).ok());
  ExpectNothingLostByAKill();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
