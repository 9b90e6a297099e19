// The file COLLECTIONS beside the shards: a shard that was absent hears of what changed meanwhile;
// older software, which does not know the file, has the last word where it had one.

#include "store/collections_file.h"

#include "support/engine_fixture.h"
#include "support/raw_shard.h"
#include "tables/meta_keys.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class CollectionsOfShardsTest : public EngineTest {
 protected:
  CollectionsOfShardsTest() { options_.shards = 3; }

  static PolicyPatch Window(uint32_t window) {
    PolicyPatch patch;
    patch.window = window;
    return patch;
  }
  static PolicyPatch Impressions(uint32_t impressions) {
    PolicyPatch patch;
    patch.impressions = impressions;
    return patch;
  }
  void OpenOnly(std::vector<uint32_t> owned) {
    options_.owned = std::move(owned);
    Reopen();
  }
  void OpenAllShards() {
    options_.owned.reset();
    Reopen();
  }
  // Nothing: there is no such collection.
  std::optional<Policy> PolicyOf(const std::string& name) {
    for (const CollectionInfo& info : engine_->Collections()) {
      if (info.name == name) return info.policy;
    }
    return {};
  }
  std::string UserOf(uint32_t shard) {
    for (int i = 0;; ++i) {
      std::string user = "u" + std::to_string(i);
      if (engine_->ShardOf(IdRef(user)) == shard) return user;
    }
  }
  CollectionRecords Filed() {
    const auto read = ReadCollections(rocksdb::Env::Default(), Path());
    EXPECT_TRUE(read.ok() && read->has_value()) << read.status().ToString();
    return read.ok() ? read->value_or(CollectionRecords()) : CollectionRecords();
  }
  // As software of before writes it: the copies in the shards alone.
  void ChangeCopies(const std::string& name, const Policy& policy,
                    const std::vector<uint32_t>& shards) {
    for (const uint32_t shard : shards) {
      RawShard(Path(), shard).Put("default", kCollectionPrefix + name, PolicyToJson(policy));
    }
  }
};

TEST_F(CollectionsOfShardsTest, EachChangeIsInTheFile) {
  Open();
  EXPECT_EQ(Filed().at("default").policy, Policy());
  Put("article", Impressions(7));
  const CollectionRecord made = Filed().at("article");
  EXPECT_EQ(made.policy->impressions, 7U);
  Put("article", Impressions(9));
  EXPECT_EQ(Filed().at("article").policy->impressions, 9U);
  EXPECT_GT(Filed().at("article").revision, made.revision);
  ASSERT_TRUE(engine_->DeleteCollection("article").ok());
  EXPECT_FALSE(Filed().at("article").policy);
  EXPECT_GT(Filed().at("article").making, made.making);
}

TEST_F(CollectionsOfShardsTest, AnAbsentShardHearsOfAPolicy) {
  Open();
  Put("article", Impressions(7));
  OpenOnly({0, 2});
  Put("article", Impressions(9));
  Put("other", Impressions(3));
  OpenOnly({1});  // without any that heard of it
  EXPECT_EQ(PolicyOf("article")->impressions, 9U);
  EXPECT_EQ(PolicyOf("other")->impressions, 3U);
  EXPECT_EQ(Play(UserOf(1), {"v"}, std::nullopt, "other"), 1U);
  OpenAllShards();
  EXPECT_EQ(PolicyOf("article")->impressions, 9U);
  EXPECT_TRUE(Unseen(UserOf(1), {"v"}, "other").empty());
}

// What it held of the collection that was deleted is of none any more.
TEST_F(CollectionsOfShardsTest, AnAbsentShardHearsOfADeletion) {
  Open();
  Put("article", {});
  const std::string user = UserOf(1);
  Play(user, {"drained"}, std::nullopt, "article");
  Drain();
  Play(user, {"staged"}, std::nullopt, "article");
  OpenOnly({0, 2});
  ASSERT_TRUE(engine_->DeleteCollection("article").ok());
  OpenOnly({1});
  EXPECT_FALSE(PolicyOf("article"));
  OpenAllShards();
  EXPECT_FALSE(PolicyOf("article"));
  Put("article", {});
  EXPECT_EQ(Unseen(user, {"drained", "staged"}, "article"), (Items{"drained", "staged"}));
  EXPECT_FALSE(answer_.degraded);
}

// Deleted and made again while the shard was absent, with other fixed fields.
TEST_F(CollectionsOfShardsTest, AnAbsentShardHearsThatACollectionBeganAnew) {
  Open();
  Put("article", Window(2));
  const std::string user = UserOf(1);
  Play(user, {"drained"}, std::nullopt, "article");
  Drain();
  Play(user, {"staged"}, std::nullopt, "article");
  OpenOnly({0, 2});
  ASSERT_TRUE(engine_->DeleteCollection("article").ok());
  Put("article", Window(3));
  EXPECT_EQ(Play(UserOf(0), {"new"}, std::nullopt, "article"), 1U);
  for (int i = 0; i < 2; ++i) {
    OpenAllShards();
    EXPECT_EQ(PolicyOf("article")->window, 3U);
    EXPECT_EQ(Unseen(user, {"drained", "staged"}, "article"), (Items{"drained", "staged"}));
    EXPECT_FALSE(answer_.degraded);
    EXPECT_TRUE(Unseen(UserOf(0), {"new"}, "article").empty());
  }
  Play(user, {"drained"}, std::nullopt, "article");
  Reopen();
  EXPECT_EQ(Unseen(user, {"drained", "staged"}, "article"), Items{"staged"});
}

// It may hold plays that go by the fixed fields.
TEST_F(CollectionsOfShardsTest, FixedFieldsStayWhileAShardIsAbsent) {
  Open();
  OpenOnly({0, 2});
  PolicyPatch patch = Window(2);
  EXPECT_EQ(engine_->PutCollection("default", patch).code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->DeleteCollection("default").code(), StatusCode::kUnavailable);
  OpenAllShards();
  EXPECT_TRUE(engine_->PutCollection("default", patch).ok());
}

// A database of before has no file and no marks.
TEST_F(CollectionsOfShardsTest, WithoutAFileTheShardsAreBelieved) {
  Open();
  Put("article", Impressions(7));
  engine_.reset();
  ASSERT_TRUE(rocksdb::Env::Default()->DeleteFile(Path() + "/COLLECTIONS").ok());
  for (uint32_t shard = 0; shard < 3; ++shard) {
    RawShard raw(Path(), shard);
    for (const char* const name : {"article", "default"}) {
      ASSERT_TRUE(raw.db()->Delete({}, raw.family("default"), PolicyKey(name)).ok());
    }
  }
  Open();
  EXPECT_EQ(PolicyOf("article")->impressions, 7U);
  EXPECT_EQ(Filed().at("article").policy->impressions, 7U);
  EXPECT_FALSE(engine_->Stats().degraded);
}

TEST_F(CollectionsOfShardsTest, ADamagedFileIsWrittenAnew) {
  Open();
  Put("article", Impressions(7));
  engine_.reset();
  ASSERT_TRUE(
      rocksdb::WriteStringToFile(rocksdb::Env::Default(), "{\"format\":1", Path() + "/COLLECTIONS")
          .ok());
  Open();
  EXPECT_EQ(PolicyOf("article")->impressions, 7U);
  EXPECT_EQ(Filed().at("article").policy->impressions, 7U);
}

TEST_F(CollectionsOfShardsTest, AFileOfNewerSoftwareIsRefused) {
  Open();
  engine_.reset();
  ASSERT_TRUE(
      rocksdb::WriteStringToFile(rocksdb::Env::Default(), "{\"format\":2}", Path() + "/COLLECTIONS")
          .ok());
  EXPECT_EQ(TryOpen().code(), StatusCode::kIncompatible);
}

TEST_F(CollectionsOfShardsTest, WhatOlderSoftwareChangedHolds) {
  Open();
  Put("article", Impressions(7));
  const uint64_t revision = Filed().at("article").revision;
  Policy changed = *PolicyOf("article");
  changed.impressions = 5;
  engine_.reset();
  ChangeCopies("article", changed, {0});  // and was killed before it came to the others
  ChangeCopies("made", changed, {0});
  Open();
  EXPECT_EQ(PolicyOf("article")->impressions, 5U);
  EXPECT_EQ(PolicyOf("made")->impressions, 5U);
  EXPECT_GT(Filed().at("article").revision, revision);
  OpenOnly({2});
  EXPECT_EQ(PolicyOf("article")->impressions, 5U);
  EXPECT_EQ(PolicyOf("made")->impressions, 5U);
}

TEST_F(CollectionsOfShardsTest, ACheckpointCarriesTheFile) {
  Open();
  Put("article", Impressions(7));
  ASSERT_TRUE(engine_->Checkpoint(dir_ + "/copy").ok());
  const auto copied = ReadCollections(rocksdb::Env::Default(), dir_ + "/copy");
  ASSERT_TRUE(copied.ok()) << copied.status().ToString();
  EXPECT_EQ(copied->value(), Filed());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
