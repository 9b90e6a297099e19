// A log whose partitions are the shards: a step goes to one shard, and others may be absent.

#include "seendb/ingest.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class PartitionIngestTest : public EngineTest {
 protected:
  void SetUp() override {
    options_.shards = 3;
    Open();
  }
  // The n-th user of a shard.
  std::string UserOf(uint32_t shard, int n = 0) {
    for (int i = 0;; ++i) {
      std::string user = "u" + std::to_string(i);
      if (engine_->ShardOf(IdRef(user)) == shard && n-- == 0) return user;
    }
  }
  // Plays of one user of each of the partitions, at one offset below `next`.
  Status Ingest(const std::vector<uint32_t>& partitions, int64_t next, const std::string& item,
                const std::vector<int64_t>& dead = {}) {
    Items users;
    for (const uint32_t partition : partitions) users.push_back(UserOf(partition));
    std::vector<SourceStep> steps;
    std::vector<seendb::Play> plays;
    std::vector<Origin> origins;
    for (uint32_t i = 0; i < partitions.size(); ++i) {
      steps.push_back({.topic = "plays",
                       .partition = partitions[i],
                       .next_offset = next,
                       .dead_letters = dead});
      plays.push_back({IdRef(users[i]), IdRef(item)});
      origins.push_back({i, next - 1});
    }
    IngestBatch batch{.sources = steps, .plays = plays, .origins = origins};
    batch.partition_is_shard = true;
    const auto done = engine_->Ingest(batch);
    if (done.ok()) repeated_ = done->repeated;
    return done.status();
  }
  SourceInfo Source(uint32_t partition) {
    for (const SourceInfo& info : engine_->Sources()) {
      if (info.partition == partition) return info;
    }
    return {};
  }
  // In how many shards a source is stored.
  int Stored(uint32_t partition) {
    int shards = 0;
    const Status scanned = engine_->Scan("default", [&](const ScanRow& row) {
      shards += row.key == "source/plays/" + std::to_string(partition) ? 1 : 0;
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return shards;
  }

  uint64_t repeated_ = 0;
};

TEST_F(PartitionIngestTest, AStepGoesToOneShard) {
  ASSERT_TRUE(Ingest({1, 2}, 10, "v1").ok());
  for (int openings = 0; openings < 2; ++openings) {
    EXPECT_EQ(Stored(1), 1);
    EXPECT_EQ(Stored(2), 1);
    EXPECT_EQ(Source(1).next_of_shard, 10);
    EXPECT_EQ(Source(1).next_offset, std::nullopt) << "not every shard knows it";
    EXPECT_EQ(Source(1).counts.plays_accepted, 1U);
    EXPECT_TRUE(Unseen(UserOf(1), {"v1"}).empty());
    EXPECT_TRUE(Unseen(UserOf(2), {"v1"}).empty());
    Reopen();
  }
  ASSERT_TRUE(Ingest({1, 2}, 10, "v1").ok());
  EXPECT_EQ(repeated_, 2U);
  EXPECT_EQ(Source(1).counts.plays_accepted, 1U);
}

TEST_F(PartitionIngestTest, OtherShardsMayBeAbsent) {
  options_.owned = std::vector<uint32_t>{1};
  Reopen();
  ASSERT_TRUE(Ingest({1}, 10, "v1").ok());
  EXPECT_TRUE(Unseen(UserOf(1), {"v1"}).empty());
  const Status absent = Ingest({1, 2}, 20, "v2");
  EXPECT_EQ(absent.code(), StatusCode::kUnavailable) << absent.ToString();
  EXPECT_EQ(Source(1).next_of_shard, 10) << "nothing changed";
  EXPECT_EQ(Unseen(UserOf(1), {"v2"}), Items{"v2"});
}

TEST_F(PartitionIngestTest, AnEventOfAnotherShardsUserIsRefused) {
  const SourceStep step{.topic = "plays", .partition = 1, .next_offset = 5};
  const std::string mine = UserOf(1), other = UserOf(2);
  const seendb::Play plays[] = {{IdRef(mine), IdRef("v1")}, {IdRef(other), IdRef("v1")}};
  const Origin origins[] = {{0, 3}, {0, 4}};
  IngestBatch batch{.sources = {&step, 1}, .plays = plays, .origins = origins};
  batch.partition_is_shard = true;
  const Status refused = engine_->Ingest(batch).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.field(), "/1/user");
  EXPECT_EQ(Unseen(mine, {"v1"}), Items{"v1"}) << "nothing changed";
  EXPECT_TRUE(engine_->Sources().empty());
}

TEST_F(PartitionIngestTest, APartitionWithoutAShardIsRefused) {
  const SourceStep step{.topic = "plays", .partition = 3, .next_offset = 5};
  IngestBatch batch{.sources = {&step, 1}};
  batch.partition_is_shard = true;
  const Status refused = engine_->Ingest(batch).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.field(), "/sources/0/partition");
}

TEST_F(PartitionIngestTest, EachShardGoesOnFromWhatItHas) {
  ASSERT_TRUE(Ingest({1}, 10, "v1").ok());
  SourceStep step{.topic = "plays", .partition = 1, .next_offset = 20};
  step.from = 10;
  IngestBatch batch{.sources = {&step, 1}};
  batch.partition_is_shard = true;
  EXPECT_TRUE(engine_->Ingest(batch).ok());
  step.next_offset = 40;
  step.from = 30;
  EXPECT_EQ(engine_->Ingest(batch).status().code(), StatusCode::kIncompatible);
  EXPECT_EQ(Source(1).next_of_shard, 20);
}

TEST_F(PartitionIngestTest, DeadLettersAreCountedOnce) {
  for (const uint32_t partition : {0U, 1U, 2U}) {
    ASSERT_TRUE(Ingest({partition}, 10, "v1", {2, 3}).ok());
    EXPECT_EQ(Source(partition).counts.dead_letters, 2U) << partition;
  }
  // In a log whose partitions are not the shards, the shard of the partition's number counts them.
  const int64_t dead[] = {1, 4, 5};
  const SourceStep step{.topic = "views", .partition = 5, .next_offset = 9, .dead_letters = dead};
  ASSERT_TRUE(engine_->Ingest({.sources = {&step, 1}}).ok());
  ASSERT_TRUE(engine_->Ingest({.sources = {&step, 1}}).ok());
  EXPECT_EQ(Source(5).counts.dead_letters, 3U);
  EXPECT_EQ(Source(5).next_offset, 9);
  EXPECT_EQ(Source(5).next_of_shard, std::nullopt) << "no shard has that number";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
