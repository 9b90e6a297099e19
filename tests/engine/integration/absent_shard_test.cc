// A database of which not every shard is open: calls for users of an absent shard say so and change
// nothing, all others go on.

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class AbsentShardTest : public EngineTest {
 protected:
  // Shards 0 to 2 with a play of each user; then one opening with shard 1 absent.
  void SetUp() override {
    options_.shards = 3;
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    Put("article", patch);
    for (const std::string& user : users_) {
      Play(user, {"before"});
      (engine_->ShardOf(IdRef(user)) == 1 ? absent_ : present_).push_back(user);
    }
    ASSERT_FALSE(absent_.empty());
    ASSERT_FALSE(present_.empty());
    options_.owned = std::vector<uint32_t>{0, 2};
    Reopen();
  }
  void ExpectAbsent(const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status.ToString();
    EXPECT_NE(status.message().find("shard 1"), std::string::npos) << status.ToString();
  }
  Status Record(const Items& users, const std::string& item) {
    std::vector<seendb::Play> plays;
    for (const std::string& user : users) plays.push_back({IdRef(user), IdRef(item)});
    return engine_->RecordPlays(plays).status();
  }

  const Items users_ = Numbered("u", 30);
  Items absent_, present_;
};

TEST_F(AbsentShardTest, UsersOfOtherShardsAreServed) {
  for (const std::string& user : present_) {
    EXPECT_EQ(Unseen(user, {"before", "new"}), Items{"new"});
    EXPECT_FALSE(answer_.degraded);
    EXPECT_EQ(Play(user, {"new"}), 1U);
    EXPECT_TRUE(engine_->Inspect(IdRef(user)).ok());
  }
  Drain();
  RunDue();
  EXPECT_TRUE(engine_->SealClosed().ok());
  EXPECT_TRUE(engine_->DropExpired().ok());
  EXPECT_TRUE(engine_->Compact().ok());
  EXPECT_TRUE(engine_->Sync().ok());
  EXPECT_TRUE(engine_->Verify().ok());
  EXPECT_FALSE(engine_->Stats().degraded);
  EXPECT_EQ(engine_->Stats().shards, 3U);
  for (const SlotInfo& slot : engine_->Ring()) EXPECT_NE(slot.shard, 1U);
}

TEST_F(AbsentShardTest, EveryCallForAUserOfItIsUnavailable) {
  const std::string& name = absent_.front();
  const IdRef user(name);
  const IdRef items[] = {IdRef("before")};
  FilterRequest request;
  request.user = user;
  request.items = items;
  FilterResponse response;
  ExpectAbsent(engine_->Filter(request, &response));
  request.record = true;
  ExpectAbsent(engine_->Filter(request, &response));
  request.record = false;
  request.memory_only = true;
  ExpectAbsent(engine_->Filter(request, &response));
  ExpectAbsent(Record({name}, "new"));
  const Impression served{user, items[0]};
  ExpectAbsent(engine_->RecordImpressions({&served, 1}).status());
  ExpectAbsent(engine_->Inspect(user).status());
  ExpectAbsent(engine_->EraseUser(user));
  HistoryRequest wanted;
  wanted.user = user;
  HistoryPage page;
  ExpectAbsent(engine_->ReadHistory(wanted, &page));
  HistoryLookup found;
  ExpectAbsent(engine_->LookupHistory(user, "article", items, &found));
  ExpectAbsent(engine_->DeleteHistory(user, "article", items));
  ExpectAbsent(engine_->ClearHistory(user));
  ExpectAbsent(engine_->SetRecording(user, true));
  ExpectAbsent(engine_->GetRecording(user).status());
}

TEST_F(AbsentShardTest, ACallForSeveralUsersChangesNothing) {
  ExpectAbsent(Record(users_, "new"));
  for (const std::string& user : present_) {
    EXPECT_EQ(Unseen(user, {"before", "new"}), Items{"new"});
  }
}

// A call that is recorded in several pieces: the user of the absent shard is in the last one.
TEST_F(AbsentShardTest, ALargeCallChangesNothing) {
  Items users(70'000, present_.front());
  users.push_back(absent_.front());
  ExpectAbsent(Record(users, "new"));
  EXPECT_EQ(Unseen(present_.front(), {"new"}), Items{"new"});
}

TEST_F(AbsentShardTest, WhatConcernsEveryShardIsRefused) {
  ExpectAbsent(engine_->ForgetTopic("plays"));
  ExpectAbsent(engine_->Checkpoint(dir_ + "/copy").status());
  const SourceStep step{"plays", 0, 5, {}};
  ExpectAbsent(engine_->Ingest({.sources = {&step, 1}}).status());
  EXPECT_TRUE(engine_->Sources().empty());
  std::vector<OutboxRow> rows;
  ExpectAbsent(engine_->ReadOutbox({.shard = 1, .topic = "plays"}, -1, 10, &rows));
  EXPECT_EQ(engine_->Collections().size(), 2U);
}

TEST_F(AbsentShardTest, NothingOfItIsLost) {
  for (const std::string& user : present_) Play(user, {"meanwhile"});
  options_.owned.reset();
  Reopen();
  for (const std::string& user : absent_) {
    EXPECT_EQ(Unseen(user, {"before", "meanwhile"}), Items{"meanwhile"});
  }
  for (const std::string& user : present_) {
    EXPECT_TRUE(Unseen(user, {"before", "meanwhile"}).empty());
  }
}

// No shard is special: the first one may be absent.
TEST_F(AbsentShardTest, AnyShardMayBeAbsent) {
  for (uint32_t only = 0; only < 3; ++only) {
    options_.owned = std::vector<uint32_t>{only};
    Reopen();
    EXPECT_EQ(engine_->Collections().size(), 2U);
    for (const std::string& user : users_) {
      const bool there = engine_->ShardOf(IdRef(user)) == only;
      EXPECT_EQ(Record({user}, "more").ok(), there) << user;
    }
  }
}

TEST_F(AbsentShardTest, WhatCannotBeOwnedIsRefused) {
  const auto refused = [&](std::vector<uint32_t> owned) {
    options_.owned = std::move(owned);
    const Status status = TryOpen();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
    return std::string(status.field());
  };
  engine_.reset();
  EXPECT_EQ(refused({}), "/owned");
  EXPECT_EQ(refused({0, 3}), "/owned/1");
  EXPECT_EQ(refused({2, 0, 2}), "/owned/2");
  dir_ += "/new";
  EXPECT_EQ(refused({0, 1}), "/owned") << "a new database";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
