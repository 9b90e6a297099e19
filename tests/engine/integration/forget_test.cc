// Clearing a collection together with its filter: what was played and served there is unseen again,
// whatever would bring it back; nothing else is touched.

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

const Items kPlayed = {"drained", "late", "staged", "future", "served"};

class ForgetTest : public EngineTest {
 protected:
  ForgetTest() { options_.shards = 1; }

  // `video` keeps history, `default` does not.
  void OpenWithVideo(DeletedItems deleted = DeletedItems::kStayFiltered) {
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    patch.history.deleted_items = deleted;
    Put("video", patch);
  }
  // Facts of every kind, in every place.
  void PlayEverything(const std::string& collection) {
    Play("u", {"drained"}, std::nullopt, collection);
    Play("u", {"late"}, kStartMs - 30 * kDayMs, collection);
    Drain();
    Play("u", {"staged"}, std::nullopt, collection);
    Play("u", {"future"}, kStartMs + kHourMs, collection);
    Serve("u", {"served"}, std::nullopt, collection);
  }
  Status Clear(std::string_view collection, bool filter = true) {
    const std::string_view only[] = {collection};
    return engine_->ClearHistory(IdRef("u"), {.collections = only, .filter = filter});
  }
  Status ClearAll() { return engine_->ClearHistory(IdRef("u"), {.filter = true}); }
  Items History() {
    HistoryPage page;
    const Status read = engine_->ReadHistory({.user = IdRef("u")}, &page);
    EXPECT_TRUE(read.ok()) << read.ToString();
    Items items;
    for (const HistoryEntry& entry : page.entries) items.push_back(entry.item);
    return items;
  }
  std::vector<std::pair<std::string, int64_t>> Forgotten() {
    const auto report = engine_->Inspect(IdRef("u"));
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? report->forgotten_at_ms : std::vector<std::pair<std::string, int64_t>>();
  }
};

TEST_F(ForgetTest, OnlyWhatItIsAskedTo) {
  OpenWithVideo();
  PlayEverything("video");
  PlayEverything("default");
  ASSERT_TRUE(Clear("video", false).ok());
  EXPECT_EQ(History(), Items{});
  EXPECT_EQ(Unseen("u", kPlayed, "video"), Items{}) << "nobody asked for it";
  EXPECT_TRUE(Forgotten().empty());

  ASSERT_TRUE(Clear("video").ok());
  EXPECT_EQ(Unseen("u", kPlayed, "video"), kPlayed);
  EXPECT_EQ(Unseen("u", kPlayed), Items{});
  EXPECT_EQ(Forgotten(), (std::vector<std::pair<std::string, int64_t>>{{"video", kStartMs}}));

  EXPECT_EQ(Clear("default", false).field(), "/collections/0") << "it keeps no history";
  ASSERT_TRUE(Clear("default").ok());
  EXPECT_EQ(Unseen("u", kPlayed), kPlayed);
  EXPECT_EQ(Clear("nothing").code(), StatusCode::kNotFound);
}

TEST_F(ForgetTest, OfAllCollections) {
  OpenWithVideo();
  PlayEverything("video");
  PlayEverything("default");
  Play("other", {"drained"}, std::nullopt, "video");
  ASSERT_TRUE(ClearAll().ok());
  EXPECT_EQ(Unseen("u", kPlayed, "video"), kPlayed);
  EXPECT_EQ(Unseen("u", kPlayed), kPlayed);
  EXPECT_EQ(Unseen("other", {"drained"}, "video"), Items{});
  EXPECT_EQ(Forgotten().size(), 2u);
}

TEST_F(ForgetTest, NothingComesBack) {
  OpenWithVideo();
  PlayEverything("video");
  ASSERT_TRUE(ClearAll().ok());
  // As a killed process leaves it, with the journal of what was staged.
  const std::string copy = dir_ + "/copy";
  std::filesystem::copy(Path(), copy, std::filesystem::copy_options::recursive);
  Drain();
  Reopen();
  EXPECT_EQ(Unseen("u", kPlayed, "video"), kPlayed);
  engine_.reset();
  std::filesystem::remove_all(Path());
  std::filesystem::rename(copy, Path());
  Open();
  EXPECT_EQ(Unseen("u", kPlayed, "video"), kPlayed) << "replayed";
  Drain();
  ASSERT_TRUE(engine_->Seal("video", "2026-03").ok());
  EXPECT_EQ(Unseen("u", kPlayed, "video"), kPlayed) << "drained and sealed";
  EXPECT_EQ(History(), Items{});

  clock_.Advance(1);
  EXPECT_EQ(Play("u", {"late"}, kStartMs, "video"), 0u) << "delivered late";
  EXPECT_EQ(Serve("u", {"late"}, kStartMs, "video"), 0u);
  EXPECT_EQ(Play("u", {"anew"}, kStartMs + 1, "video"), 1u);
  EXPECT_EQ(Play("u", {"late"}, kStartMs), 0u) << "of a collection that was empty, yet cleared";
}

TEST_F(ForgetTest, WhatComesLateIsRefusedByName) {
  OpenWithVideo();
  ASSERT_TRUE(Clear("video").ok());
  const seendb::Play late{IdRef("u"), IdRef("a"), kStartMs};
  const auto recorded = engine_->RecordPlays({&late, 1}, {.collection = "video"});
  ASSERT_TRUE(recorded.ok());
  ASSERT_EQ(recorded->refusals.size(), 1u);
  const Status& refusal = recorded->refusals[0].status;
  EXPECT_EQ(refusal.field(), "/at");
  EXPECT_NE(refusal.message().find("the clearing of the user's filter"), std::string::npos)
      << refusal.ToString();
}

// What may be recommended again is unseen anyway then; played anew it is seen.
TEST_F(ForgetTest, OverridesEndWithIt) {
  OpenWithVideo(DeletedItems::kRecommendAgain);
  Play("u", {"a"}, std::nullopt, "video");
  const IdRef items[] = {IdRef("a")};
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "video", items).ok());
  EXPECT_EQ(Unseen("u", {"a"}, "video"), Items{"a"});
  ASSERT_TRUE(Clear("video").ok());
  clock_.Advance(1);
  Play("u", {"a"}, std::nullopt, "video");
  EXPECT_EQ(Unseen("u", {"a"}, "video"), Items{});
  Reopen();
  EXPECT_EQ(Unseen("u", {"a"}, "video"), Items{});
}

TEST_F(ForgetTest, ItIsOnTheDiskWhenAnswered) {
  MemDisk disk;
  env_ = disk.env();
  OpenWithVideo();
  PlayEverything("video");
  ASSERT_TRUE(engine_->Sync().ok());
  ASSERT_TRUE(ClearAll().ok());
  disk.Crash();
  engine_.reset();
  disk.PowerCut(1);
  disk.Revive();
  Open();
  EXPECT_EQ(Unseen("u", kPlayed, "video"), kPlayed);
  EXPECT_EQ(History(), Items{});
  EXPECT_EQ(Play("u", {"late"}, kStartMs, "video"), 0u);
  engine_.reset();
}

// Of history and filter both or none.
TEST_F(ForgetTest, AFailedOneLeavesEverything) {
  MemDisk disk;
  env_ = disk.env();
  OpenWithVideo();
  PlayEverything("video");
  const Items before = History();
  ASSERT_TRUE(engine_->Sync().ok());
  disk.Fail(MemDisk::kAppend, ".log", rocksdb::IOStatus::IOError("injected"));
  EXPECT_FALSE(ClearAll().ok());
  disk.Clear();
  Reopen();
  EXPECT_EQ(Unseen("u", kPlayed, "video"), Items{});
  EXPECT_EQ(History(), before);
  EXPECT_TRUE(Forgotten().empty());
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
