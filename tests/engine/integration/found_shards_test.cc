// A database that opens the shards its folder has: a cluster's node, which holds some of them.

#include <fstream>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class FoundShardsTest : public EngineTest {
 protected:
  FoundShardsTest() {
    options_.shards = 4;
    options_.as_found = true;
    options_.database_id = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f";
    options_.item_hash_key.emplace().fill(7);
  }
  void MakeShard(uint32_t shard) {
    const Status made = engine_->AttachShard(shard, "");
    ASSERT_TRUE(made.ok()) << made.ToString();
  }
  Result<std::unique_ptr<Engine>> OpenOther() {
    Seams seams;
    seams.clock = &clock_;
    return Engine::Open(dir_ + "/other", options_, seams);
  }
  std::string UserOf(uint32_t shard) {
    for (int i = 0;; ++i) {
      std::string user = "u" + std::to_string(i);
      if (engine_->ShardOf(IdRef(user)) == shard) return user;
    }
  }
};

TEST_F(FoundShardsTest, ANewDatabaseHasNoneUntilTheyAreMade) {
  options_.default_policy.window = 5;
  Open();
  EXPECT_TRUE(engine_->AttachedShards().empty());
  ASSERT_EQ(engine_->Collections().size(), 1U);
  EXPECT_EQ(engine_->Collections().front().policy.window, 5U);
  MakeShard(2);
  MakeShard(0);
  EXPECT_EQ(engine_->AttachedShards(), (std::vector<uint32_t>{0, 2}));
  const std::string user = UserOf(2);
  EXPECT_EQ(Play(user, {"v"}), 1U);
  EXPECT_EQ(engine_->AttachShard(2, "").code(), StatusCode::kIncompatible);
  EXPECT_EQ(engine_->AttachShard(4, "").code(), StatusCode::kInvalidArgument);
  Reopen();
  EXPECT_EQ(engine_->AttachedShards(), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(Unseen(user, {"v", "w"}), Items{"w"});
}

TEST_F(FoundShardsTest, OneThatWasDetachedIsNotOpened) {
  Open();
  MakeShard(1);
  MakeShard(3);
  ASSERT_TRUE(engine_->DetachShard(1, Detached::kRemoved).ok());
  Reopen();
  EXPECT_EQ(engine_->AttachedShards(), std::vector<uint32_t>{3});
  MakeShard(1);
  EXPECT_EQ(engine_->AttachedShards(), (std::vector<uint32_t>{1, 3}));
}

TEST_F(FoundShardsTest, ACheckpointHasWhatIsThere) {
  Open();
  MakeShard(1);
  MakeShard(3);
  const std::string user = UserOf(3);
  EXPECT_EQ(Play(user, {"v"}), 1U);
  const auto report = engine_->Checkpoint(dir_ + "/other");
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->shards, 2U);
  auto copy = OpenOther();
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_EQ((*copy)->AttachedShards(), (std::vector<uint32_t>{1, 3}));
  const IdRef items[] = {IdRef("v"), IdRef("w")};
  FilterResponse answer;
  ASSERT_TRUE((*copy)->Filter({.user = IdRef(user), .items = items}, &answer).ok());
  EXPECT_EQ(answer.unseen, std::vector<uint32_t>{1});
}

// Each shard's part of the log is its own.
TEST_F(FoundShardsTest, ATopicIsForgottenByTheShardsThatAreThere) {
  Open();
  MakeShard(1);
  const SourceStep step{.topic = "plays", .partition = 1, .next_offset = 12};
  ASSERT_TRUE(engine_->Ingest({.sources = {&step, 1}, .partition_is_shard = true}).ok());
  ASSERT_EQ(engine_->Sources().size(), 1U);
  const Status forgotten = engine_->ForgetTopic("plays");
  EXPECT_TRUE(forgotten.ok()) << forgotten.ToString();
  EXPECT_TRUE(engine_->Sources().empty());
  EXPECT_EQ(engine_->ForgetTopic("plays").code(), StatusCode::kNotFound);
}

// A crash left a shard that was not whole yet.
TEST_F(FoundShardsTest, WhatWasBeingMadeIsMadeAnew) {
  Open();
  const std::string half = Path() + "/shard-0001.making";
  std::filesystem::create_directory(half);
  std::ofstream(half + "/CURRENT") << "MANIFEST-000001\n";
  MakeShard(1);
  EXPECT_EQ(Play(UserOf(1), {"v"}), 1U);
  EXPECT_FALSE(std::filesystem::exists(half));
  std::filesystem::create_directory(Path() + "/shard-0002.making");
  Reopen();
  EXPECT_EQ(engine_->AttachedShards(), std::vector<uint32_t>{1});
  EXPECT_FALSE(std::filesystem::exists(Path() + "/shard-0002.making"));
}

// Databases of one id and key take each other's shards.
TEST_F(FoundShardsTest, AShardOfAnotherNodeFits) {
  Open();
  MakeShard(1);
  const std::string user = UserOf(1);
  Play(user, {"v"});
  const std::string copy = dir_ + "/copy";
  ASSERT_TRUE(engine_->CheckpointShard(1, copy).ok());
  const auto other = OpenOther();
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  const Status taken = (*other)->AttachShard(1, copy);
  ASSERT_TRUE(taken.ok()) << taken.ToString();
  const IdRef items[] = {IdRef("v"), IdRef("w")};
  FilterResponse answer;
  ASSERT_TRUE((*other)->Filter({.user = IdRef(user), .items = items}, &answer).ok());
  EXPECT_EQ(answer.unseen, std::vector<uint32_t>{1});
}

// Two databases that were told of the same makings, one of them of the last alone.
TEST_F(FoundShardsTest, AShardKeepsACollectionThatWasMadeAnewBefore) {
  Open();
  MakeShard(1);
  const std::string user = UserOf(1);
  ASSERT_TRUE(engine_->PutCollection("video", {}, 5).ok());
  EXPECT_EQ(Play(user, {"old"}, {}, "video"), 1U);
  ASSERT_TRUE(engine_->PutCollection("video", {}, 9).ok());
  EXPECT_EQ(engine_->Collections().back().making, 9U);
  EXPECT_EQ(Unseen(user, {"old"}, "video"), Items{"old"});
  EXPECT_EQ(Play(user, {"new"}, {}, "video"), 1U);
  EXPECT_EQ(engine_->PutCollection("video", {}, 5).code(), StatusCode::kIncompatible);
  ASSERT_TRUE(engine_->PutCollection("video", {}, 9).ok());
  const std::string copy = dir_ + "/copy";
  ASSERT_TRUE(engine_->CheckpointShard(1, copy).ok());
  const auto other = OpenOther();
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  ASSERT_TRUE((*other)->PutCollection("video", {}, 9).ok());
  ASSERT_TRUE((*other)->AttachShard(1, copy).ok());
  const IdRef items[] = {IdRef("old"), IdRef("new")};
  FilterResponse answer;
  const FilterRequest request{.collection = "video", .user = IdRef(user), .items = items};
  ASSERT_TRUE((*other)->Filter(request, &answer).ok());
  EXPECT_EQ(answer.unseen, std::vector<uint32_t>{0});
}

TEST_F(FoundShardsTest, AnotherDatabaseIsRefused) {
  Open();
  engine_.reset();
  options_.database_id = "another";
  const Status other = TryOpen();
  EXPECT_EQ(other.code(), StatusCode::kIncompatible) << other.ToString();
  EXPECT_EQ(other.field(), "/database_id");
  options_.database_id = "no/id";
  EXPECT_EQ(TryOpen().field(), "/database_id");
  options_.database_id.reset();
  options_.owned = std::vector<uint32_t>{0};
  EXPECT_EQ(TryOpen().field(), "/owned");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
