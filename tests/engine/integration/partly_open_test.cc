// Shards of a database that is opened answer one after the other.

#include <future>

#include "support/engine_fixture.h"
#include "support/hold.h"

namespace seendb {
namespace {

class PartlyOpenTest : public EngineTest {
 protected:
  void SetUp() override {
    options_.shards = 3;
    Open();
    for (const std::string& user : users_) Play(user, {"before"});
    options_.replay_later = true;
    Reopen();
  }
  Status Ask(const std::string& user) {
    FilterRequest request;
    const std::vector<IdRef> items = {IdRef("before"), IdRef("new")};
    const IdRef id(user);
    request.user = id;
    request.items = items;
    FilterResponse response;
    return engine_->Filter(request, &response);
  }

  const Items users_ = Numbered("u", 30);
};

TEST_F(PartlyOpenTest, NobodyIsAnsweredBeforeTheJournalOfTheShardIsReplayed) {
  EXPECT_TRUE(engine_->AttachedShards().empty());
  EXPECT_EQ(engine_->Stats().shards, 3U);
  for (const std::string& user : users_) {
    const Status asked = Ask(user);
    EXPECT_EQ(asked.code(), StatusCode::kUnavailable);
    EXPECT_NE(asked.message().find("is being opened"), std::string::npos) << asked.ToString();
    const std::vector<seendb::Play> plays = {{IdRef(user), IdRef("early")}};
    EXPECT_EQ(engine_->RecordPlays(plays).status().code(), StatusCode::kUnavailable);
  }
  EXPECT_EQ(engine_->PutCollection("late", {}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->DeleteCollection("default").code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->DetachShard(0, Detached::kKept).code(), StatusCode::kUnavailable);
  ASSERT_TRUE(engine_->FinishOpening().ok());
  EXPECT_EQ(engine_->AttachedShards().size(), 3U);
  for (const std::string& user : users_) {
    EXPECT_EQ(Unseen(user, {"before", "early", "new"}), (Items{"early", "new"}));
  }
}

TEST_F(PartlyOpenTest, AShardThatIsReadyAnswersWhileAnotherIsNot) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Hold hold("replay: before the journals");
  std::future<Status> finished =
      std::async(std::launch::async, [this] { return engine_->FinishOpening(); });
  ASSERT_TRUE(hold.WaitReached());
  while (engine_->AttachedShards().size() < 2) std::this_thread::yield();
  const std::vector<uint32_t> open = engine_->AttachedShards();
  size_t answered = 0;
  for (const std::string& user : users_) {
    if (std::count(open.begin(), open.end(), engine_->ShardOf(IdRef(user))) == 0) {
      EXPECT_EQ(Ask(user).code(), StatusCode::kUnavailable);
      continue;
    }
    ++answered;
    EXPECT_EQ(Unseen(user, {"before", "new"}), Items{"new"});
    EXPECT_EQ(Play(user, {"new"}), 1U);
  }
  EXPECT_GT(answered, 0U);
  EXPECT_LT(answered, users_.size());
  hold.Release();
  ASSERT_TRUE(finished.get().ok());
  options_.replay_later = false;
  Reopen();
  for (const std::string& user : users_) {
    const bool early = std::count(open.begin(), open.end(), engine_->ShardOf(IdRef(user))) != 0;
    EXPECT_EQ(Unseen(user, {"before", "new"}), early ? Items{} : Items{"new"});
  }
}

}  // namespace
}  // namespace seendb
