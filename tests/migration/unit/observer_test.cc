// migration/observer.h: which migrations hear of which deed.

#include "migration/observer.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/fake_engine.h"

namespace seendb::migration::SEENDB_TEST_FILE {
namespace {

// Collections "music" and "video" move in from a Redis that nobody runs, so what is written to it
// stays in the queues.
class ObserverTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/observer-XXXXXX";
    db_ = mkdtemp(path.data());
    std::vector<ops::MigrationConfig> configs(2);
    configs[0].collection = "music";
    configs[1].collection = "video";
    for (ops::MigrationConfig& config : configs) {
      config.redis = "redis://127.0.0.1:1";
      config.key = config.collection + ":{user}";
      config.dual_write = true;
    }
    migrations_.emplace(configs);
    const Status opened = migrations_->Open(db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    migrations_->Start(&engine_);
  }
  void TearDown() override {
    migrations_->Stop();
    migrations_.reset();
    std::filesystem::remove_all(db_);
  }

  ops::MigrationState State(std::string_view collection) {
    return migrations_->Find(collection)->State();
  }
  uint64_t Queued(std::string_view collection) { return State(collection).queue_bytes; }
  uint64_t Imported(std::string_view collection) { return State(collection).imported_users; }

  std::string db_;
  test::FakeEngine engine_;
  std::optional<Migrations> migrations_;
  const IdRef user_{"anna"};
  const std::array<Play, 1> plays_{
      Play{.user = IdRef("anna"), .item = IdRef("film"), .at_ms = 1'000}};
};

TEST_F(ObserverTest, AnErasureIsHeardOfByAll) {
  ASSERT_TRUE(Observer(&*migrations_).Erased(user_).ok());
  for (const std::string_view collection : {"music", "video"}) {
    EXPECT_EQ(Imported(collection), 1U) << collection;
    EXPECT_GT(Queued(collection), 0U) << collection;
  }
}

TEST_F(ObserverTest, AClearIsHeardOfByTheCollectionsThatItNames) {
  const std::array<std::string_view, 2> named{"video", "books"};
  ASSERT_TRUE(Observer(&*migrations_).Cleared(user_, named).ok());
  EXPECT_EQ(Imported("video"), 1U);
  EXPECT_GT(Queued("video"), 0U);
  EXPECT_EQ(Imported("music"), 0U);
  EXPECT_EQ(Queued("music"), 0U);
  ASSERT_TRUE(Observer(&*migrations_).Cleared(user_, {}).ok());
  EXPECT_EQ(Imported("music"), 1U);
}

TEST_F(ObserverTest, PlaysGoToTheStoreOfTheirCollection) {
  const Observer observer(&*migrations_);
  observer.Recorded("books", plays_, {});
  EXPECT_EQ(Queued("music") + Queued("video"), 0U);
  observer.Recorded("video", plays_, {});
  EXPECT_GT(Queued("video"), 0U);
  EXPECT_EQ(Queued("music"), 0U);
  EXPECT_EQ(observer.Recording("books", plays_), nullptr);
  const OnRecorded recorded = observer.Recording("music", plays_);
  ASSERT_NE(recorded, nullptr);
  const IngestResult result;
  recorded(&result);
  EXPECT_GT(Queued("music"), 0U);
}

TEST_F(ObserverTest, DeletedItemsLeaveTheStoreOnlyWhereTheyMayBeShownAgain) {
  const Observer observer(&*migrations_);
  wire::ItemsCall items;
  items.collection = "video";
  items.items = {IdRef("film")};
  Policy policy;
  policy.history.deleted_items = DeletedItems::kStayFiltered;
  observer.Deleted(policy, user_, items);
  EXPECT_EQ(Queued("video"), 0U);
  policy.history.deleted_items = DeletedItems::kRecommendAgain;
  observer.Deleted(policy, user_, items);
  EXPECT_GT(Queued("video"), 0U);
  EXPECT_EQ(Queued("music"), 0U);
}

TEST_F(ObserverTest, ADeletedCollectionHasNobodysPast) {
  const Observer observer(&*migrations_);
  ASSERT_TRUE(observer.Erased(user_).ok());
  ASSERT_TRUE(observer.CollectionDeleted("video").ok());
  EXPECT_EQ(Imported("video"), 0U);
  EXPECT_EQ(Imported("music"), 1U);
  EXPECT_TRUE(observer.CollectionDeleted("books").ok());
}

TEST(ObserverOfNothingTest, SaysThatAllIsWell) {
  const Observer observer(nullptr);
  const IdRef user("anna");
  EXPECT_TRUE(observer.Erased(user).ok());
  EXPECT_TRUE(observer.Cleared(user, {}).ok());
  EXPECT_TRUE(observer.CollectionDeleted("video").ok());
  EXPECT_EQ(observer.Recording("video", {}), nullptr);
  observer.Recorded("video", {}, {});
  observer.Deleted({}, user, {});
}

}  // namespace
}  // namespace seendb::migration::SEENDB_TEST_FILE
