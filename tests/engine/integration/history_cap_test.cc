// The cap on a user's entries is checked once a day: of those users alone whose history was written
// since, but once of all after an opening, and where the cap has become smaller.

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int kUsers = 2'000;
constexpr int kEntries = 50;  // of each; the cap

class HistoryCapTest : public EngineTest {
 protected:
  HistoryCapTest() {
    options_.shards = 1;
    options_.block_cache_bytes = 1 << 20;
    env_ = disk_.env();
    patch_.history.enabled = true;
    patch_.history.max_entries = kEntries;
  }
  ~HistoryCapTest() override { engine_.reset(); }

  void Prepare() {
    Open();
    Put("video", patch_);
    const Items items = Numbered("item", kEntries);
    for (int i = 0; i < kUsers; ++i) {
      std::vector<seendb::Play> plays;
      const std::string user = "user" + std::to_string(i);
      for (size_t at = 0; at < items.size(); ++at) {
        plays.push_back({IdRef(user), IdRef(items[at]), kStartMs - static_cast<int64_t>(at)});
      }
      ASSERT_TRUE(engine_->RecordPlays(plays, {.collection = "video"}).ok());
    }
    Drain();
    ASSERT_TRUE(engine_->Compact().ok());
  }
  // How often files are read by a check of the cap, at 01:00 of the next day.
  uint64_t ReadsOfCheck() {
    clock_.Set(clock_.NowMs() + kDayMs - (clock_.NowMs() - kHourMs) % kDayMs);
    Drain();
    const uint64_t before = disk_.operations(MemDisk::kRead);
    RunDue();
    return disk_.operations(MemDisk::kRead) - before;
  }
  void WatchAnew(const std::string& user, int entries) {
    Play(user, Numbered("new", entries), clock_.NowMs(), "video");
  }
  uint64_t Evicted() { return engine_->Stats().history_evicted; }

  MemDisk disk_;
  PolicyPatch patch_;
};

TEST_F(HistoryCapTest, OnlyUsersWrittenSinceAreLookedAt) {
  Prepare();
  const uint64_t first = ReadsOfCheck();
  ASSERT_GT(first, 8u);
  EXPECT_EQ(Evicted(), 0u);
  WatchAnew("user7", 3);
  ReadsOfCheck();
  EXPECT_EQ(Evicted(), 3u);
  EXPECT_LT(ReadsOfCheck(), first / 2) << "nobody's was written since";
  EXPECT_EQ(Evicted(), 3u);
  WatchAnew("user7", 4);  // one item more
  WatchAnew("user8", 1);
  ReadsOfCheck();
  EXPECT_EQ(Evicted(), 5u);
}

// Neither a restart nor a kill makes a user be passed over.
TEST_F(HistoryCapTest, ARestartLooksAtEverybody) {
  Prepare();
  ReadsOfCheck();
  WatchAnew("user7", 3);
  Drain();
  disk_.Crash();
  engine_.reset();
  disk_.Revive();
  Open();
  ReadsOfCheck();
  EXPECT_EQ(Evicted(), 3u);
}

TEST_F(HistoryCapTest, ASmallerCapLooksAtEverybody) {
  Prepare();
  ReadsOfCheck();
  patch_.history.max_entries = kEntries - 1;
  Put("video", patch_);
  ReadsOfCheck();
  EXPECT_EQ(Evicted(), static_cast<uint64_t>(kUsers));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
