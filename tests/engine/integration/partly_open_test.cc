// Shards of a database that is opened answer one after the other.

#include <functional>
#include <future>
#include <set>

#include "store/collections_file.h"
#include "support/engine_fixture.h"
#include "support/hold.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class PartlyOpenTest : public EngineTest {
 protected:
  void SetUp() override {
    options_.shards = 3;
    Open();
    for (const std::string& user : users_) Play(user, {"before"});
    options_.open_later = true;
    Reopen();
  }
  Status Ask(const std::string& user, const std::string& collection = "default") {
    FilterRequest request;
    request.collection = collection;
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

// Both parts of an opening: the database of a shard, and its journals.
TEST_F(PartlyOpenTest, AShardThatIsReadyAnswersWhileAnotherIsNot) {
  SEENDB_NEEDS_PAUSE_POINTS();
  std::set<std::string> played;
  for (const char* const point : {"open: before the database", "replay: before the journals"}) {
    Hold hold(point);
    std::future<Status> finished =
        std::async(std::launch::async, [this] { return engine_->FinishOpening(); });
    ASSERT_TRUE(hold.WaitReached());
    while (engine_->AttachedShards().size() < 2) std::this_thread::yield();
    EXPECT_EQ(engine_->Stats().shards_open, 2U);
    EXPECT_EQ(engine_->Stats().shards_opening, 1U);
    const std::vector<uint32_t> open = engine_->AttachedShards();
    size_t answered = 0;
    for (const std::string& user : users_) {
      if (std::count(open.begin(), open.end(), engine_->ShardOf(IdRef(user))) == 0) {
        EXPECT_EQ(Ask(user).code(), StatusCode::kUnavailable);
        const std::vector<seendb::Play> plays = {{IdRef(user), IdRef("new")}};
        EXPECT_EQ(engine_->RecordPlays(plays).status().code(), StatusCode::kUnavailable);
        continue;
      }
      ++answered;
      EXPECT_EQ(Unseen(user, {"before", "other"}), Items{"other"});
      EXPECT_EQ(Play(user, {"new"}), 1U);
      played.insert(user);
    }
    EXPECT_GT(answered, 0U);
    EXPECT_LT(answered, users_.size());
    EXPECT_EQ(engine_->PutCollection("late", {}).code(), StatusCode::kUnavailable);
    hold.Release();
    ASSERT_TRUE(finished.get().ok());
    EXPECT_EQ(engine_->Stats().shards_open, 3U);
    EXPECT_EQ(engine_->Stats().shards_opening, 0U);
    Reopen();
  }
  ASSERT_TRUE(engine_->FinishOpening().ok());
  for (const std::string& user : users_) {
    EXPECT_EQ(Unseen(user, {"before", "new"}), played.contains(user) ? Items{} : Items{"new"});
  }
}

TEST_F(PartlyOpenTest, ACollectionThatIsNotKnownMayBeKnownToAShard) {
  EXPECT_EQ(Ask(users_[0], "video").code(), StatusCode::kUnavailable);
  ASSERT_TRUE(engine_->FinishOpening().ok());
  EXPECT_EQ(Ask(users_[0], "video").code(), StatusCode::kNotFound);
}

TEST_F(PartlyOpenTest, AShardThatFailsToOpenFailsTheOpening) {
  engine_.reset();
  ASSERT_TRUE(rocksdb::Env::Default()->DeleteFile(Path() + "/shard-0001/CURRENT").ok());
  Open();
  EXPECT_EQ(engine_->FinishOpening().code(), StatusCode::kCorruption);
  engine_.reset();
}

// A shard may know more of the collections than the file then: all are opened before the first
// answers.
TEST_F(PartlyOpenTest, WhereTheFileDoesNotTellAllOpenOpensAllShards) {
  SEENDB_NEEDS_PAUSE_POINTS();
  ASSERT_TRUE(engine_->FinishOpening().ok());
  const auto read = ReadCollections(rocksdb::Env::Default(), Path());
  ASSERT_TRUE(read.ok() && read->has_value());
  const auto opens_all = [this] {
    Hold hold("open: before the database");
    std::future<void> opened = std::async(std::launch::async, [this] { Open(); });
    const bool reached = hold.WaitReached(std::chrono::seconds(60));
    hold.Release();
    opened.get();
    EXPECT_TRUE(engine_->AttachedShards().empty());
    EXPECT_TRUE(engine_->FinishOpening().ok());
    return reached;
  };
  engine_.reset();
  ASSERT_TRUE(WriteCollections(rocksdb::Env::Default(), Path(), **read, /*changing=*/true).ok());
  EXPECT_TRUE(opens_all());
  engine_.reset();
  ASSERT_TRUE(rocksdb::Env::Default()->DeleteFile(Path() + "/COLLECTIONS").ok());
  EXPECT_TRUE(opens_all());
  Reopen();
  EXPECT_TRUE(engine_->AttachedShards().empty());
  Hold hold("open: before the database");
  std::future<Status> finished =
      std::async(std::launch::async, [this] { return engine_->FinishOpening(); });
  EXPECT_TRUE(hold.WaitReached()) << "the file tells all again, and Open opened none";
  hold.Release();
  EXPECT_TRUE(finished.get().ok());
}

TEST_F(PartlyOpenTest, AChangeOfCollectionsIsAnnouncedWhileShardsMayKnowMore) {
  SEENDB_NEEDS_PAUSE_POINTS();
  ASSERT_TRUE(engine_->FinishOpening().ok());
  const auto announced = [this] {
    bool changing = false;
    EXPECT_TRUE(ReadCollections(rocksdb::Env::Default(), Path(), &changing).ok());
    return changing;
  };
  PolicyPatch weekly, daily;
  weekly.bucket = BucketSpec{BucketKind::kDays, 7};
  daily.bucket = BucketSpec{BucketKind::kDays, 1};
  const std::vector<std::function<Status()>> changes = {
      [&] { return engine_->PutCollection("video", weekly); },
      [&] { return engine_->PutCollection("video", daily); },  // it holds nothing: it begins anew
      [&] { return engine_->DeleteCollection("video"); },
  };
  for (const auto& change : changes) {
    Hold hold("collections: announced");
    std::future<Status> changed = std::async(std::launch::async, change);
    ASSERT_TRUE(hold.WaitReached());
    EXPECT_TRUE(announced());
    hold.Release();
    const Status status = changed.get();
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_FALSE(announced());
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
