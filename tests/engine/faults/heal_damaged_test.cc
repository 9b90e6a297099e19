// A shard that heals itself with `open_damaged`, and finds its synced log damaged: what it says of
// the loss is what an opening of the whole database would say.

#include "support/heal_damaged.h"

#include <vector>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class HealDamagedTest : public EngineTest {
 protected:
  void SetUp() override {
    env_ = disk_.env();
    options_.shards = 1;
    options_.open_damaged = true;
    Open();
  }
  void TearDown() override { engine_.reset(); }

  // `goes_on`: SourceStep::from is said.
  Result<IngestResult> TryIngest(int64_t from, int64_t to, bool goes_on = false) {
    std::vector<std::string> users;
    std::vector<seendb::Play> plays;
    std::vector<Origin> origins;
    for (int64_t i = from; i < to; ++i) users.push_back("u" + std::to_string(i));
    for (int64_t i = from; i < to; ++i) {
      plays.push_back({IdRef(users[static_cast<size_t>(i - from)]), IdRef("v1")});
      origins.push_back({0, i});
    }
    SourceStep step{"plays", 0, to};
    if (goes_on) step.from = from;
    return engine_->Ingest({.sources = {&step, 1}, .plays = plays, .origins = origins});
  }
  void Ingest(int64_t from, int64_t to) {
    const auto done = TryIngest(from, to);
    ASSERT_TRUE(done.ok()) << done.status().ToString();
  }

  MemDisk disk_;
};

TEST_F(HealDamagedTest, TheLossIsDatedByThePresent) {
  clock_.Advance(150 * kDayMs);
  RunDue();
  for (int i = 0; i < 200; ++i) Play("u" + std::to_string(i), {"v1"});
  Drain();
  ASSERT_TRUE(engine_->Sync().ok());
  EXPECT_EQ(Unseen("u7", {"v1"}), Items());
  ASSERT_NO_FATAL_FAILURE(FailAndHealDamaged(&disk_, engine_.get()));
  const Items unseen = Unseen("u7", {"v1"});
  EXPECT_TRUE(unseen.empty() || answer_.degraded);
}

TEST_F(HealDamagedTest, PlaysOfALogAreReadAgain) {
  for (int64_t i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(Ingest(i * 10, i * 10 + 10));
  Drain();
  ASSERT_TRUE(engine_->Sync().ok());
  ASSERT_NO_FATAL_FAILURE(FailAndHealDamaged(&disk_, engine_.get()));
  // As the server does: from the stored offset, else from the beginning of the log.
  const std::vector<SourceInfo> sources = engine_->Sources();
  const int64_t next = sources.empty() ? 0 : sources[0].next_offset.value_or(0);
  ASSERT_NO_FATAL_FAILURE(Ingest(next, 210));
  EXPECT_EQ(Unseen("u150", {"v1"}), Items());
}

// Whoever took the offset for stored is told: what lies before its batch would be passed over.
TEST_F(HealDamagedTest, ABatchThatGoesOnFromMoreIsRefused) {
  for (int64_t i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(Ingest(i * 10, i * 10 + 10));
  EXPECT_TRUE(TryIngest(200, 205, true).ok());
  Drain();
  ASSERT_TRUE(engine_->Sync().ok());
  ASSERT_NO_FATAL_FAILURE(FailAndHealDamaged(&disk_, engine_.get()));
  ASSERT_EQ(engine_->Sources().size(), 1U) << "that it was read is not forgotten";
  EXPECT_EQ(engine_->Sources()[0].next_offset, std::nullopt);
  const Status refused = TryIngest(205, 210, true).status();
  EXPECT_EQ(refused.code(), StatusCode::kIncompatible) << refused.ToString();
  EXPECT_EQ(refused.field(), "/sources/0/from");
  EXPECT_EQ(refused.message(),
            "shard 0 has stored no offset of topic \"plays\", partition 0; the batch goes on from "
            "offset 205");
  EXPECT_EQ(Unseen("u207", {"v1"}), Items{"v1"}) << "nothing of it was recorded";
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ASSERT_EQ(engine_->Sources().size(), 1U);
  EXPECT_EQ(engine_->Sources()[0].next_offset, std::nullopt);
  ASSERT_NO_FATAL_FAILURE(Ingest(0, 205));
  EXPECT_TRUE(TryIngest(205, 210, true).ok());
  EXPECT_EQ(Unseen("u207", {"v1"}), Items());
  EXPECT_EQ(Unseen("u150", {"v1"}), Items());
}

// Where nothing was lost, nothing is read again.
TEST_F(HealDamagedTest, OffsetsOfASoundLogStay) {
  ASSERT_NO_FATAL_FAILURE(Ingest(0, 10));
  disk_.Fail(MemDisk::kAppend, ".log", rocksdb::IOStatus::IOError("EIO"));
  EXPECT_FALSE(TryIngest(10, 20).ok());
  disk_.Clear();
  RunDue();
  const std::vector<SourceInfo> sources = engine_->Sources();
  ASSERT_EQ(sources.size(), 1U);
  EXPECT_EQ(sources[0].next_offset, 10);
  ASSERT_NO_FATAL_FAILURE(Ingest(10, 20));
  EXPECT_EQ(Unseen("u15", {"v1"}), Items());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
