// A shard made anew out of its tables and logs forgets who was erased nothing less, nor filters
// that were cleared: whatever of that lies in a log, and whatever in tables whose order nobody
// knows any more.

#include "seendb/repair.h"
#include "support/rot_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kJanuary = kStartMs - 60 * kDayMs;

class ErasedTest : public RotFixture {
 protected:
  ErasedTest() { options_.shards = 1; }

  // Plays and impressions of two users in tables; one of them erased, and served again afterwards.
  void MakeAndErase() {
    Open();
    for (const char* user : {kErased, "kept"}) {
      Play(user, Numbered("jan", 20), kJanuary);
      Play(user, Numbered("mar", 20));
      Serve(user, {"served"});
      Say(user, "before");
    }
    Drain();
    FlushAll();
    clock_.Advance(1000);
    ASSERT_TRUE(engine_->EraseUser(IdRef(kErased)).ok());
    clock_.Advance(1000);
    for (const char* user : {kErased, "kept"}) {
      Serve(user, {"again"});
      Say(user, "after");
    }
  }
  void Say(const std::string& user, std::string_view group) {
    const Mark mark{group, 1};
    EXPECT_TRUE(engine_->PutMarks(IdRef(user), {&mark, 1}).ok());
  }
  Items MarkedOf(const std::string& user) {
    MarksPage page;
    EXPECT_TRUE(engine_->ReadMarks({.user = IdRef(user)}, &page).ok());
    Items groups;
    for (const MarkEntry& mark : page.marks) groups.push_back(mark.group);
    return groups;
  }
  void FlushAll() { FlushRawOf(1); }
  void FlushRawOf(uint32_t shards) {
    engine_.reset();
    for (uint32_t shard = 0; shard < shards; ++shard) {
      RawShard raw(Path(), shard);
      for (const std::string& family : raw.families()) raw.Flush(family);
    }
    Open();
  }
  // Without its MANIFEST all of the shard is read anew.
  void LoseManifestAndRepair() {
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
    for (const auto& file : fs::directory_iterator(Path() + "/shard-0000")) {
      if (!file.path().filename().string().starts_with("MANIFEST")) continue;
      fs::resize_file(file.path(), fs::file_size(file.path()) / 2);
    }
    Seams seams;
    seams.clock = &clock_;
    const Result<RepairReport> repaired = Repair(Path(), {}, seams);
    ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
    EXPECT_FALSE(repaired->files.empty());
    Open();
  }
  void ExpectKeptAndErased() {
    EXPECT_EQ(Unseen("kept", Numbered("jan", 21)), Items{"jan20"});
    EXPECT_EQ(Unseen("kept", Numbered("mar", 21)), Items{"mar20"});
    EXPECT_EQ(Unseen("kept", {"served", "again", "new"}), Items{"new"});
    EXPECT_FALSE(answer_.degraded);
    EXPECT_EQ(Unseen(kErased, Numbered("jan", 20)).size(), 20u);
    EXPECT_EQ(Unseen(kErased, Numbered("mar", 20)).size(), 20u);
    EXPECT_EQ(Unseen(kErased, {"served", "again", "new"}), (Items{"served", "new"}));
    EXPECT_EQ(MarkedOf("kept"), (Items{"after", "before"}));
    EXPECT_EQ(MarkedOf(kErased), Items{"after"});
    EXPECT_EQ(Play(kErased, {"late"}, kStartMs), 0u) << "not after the erasure";
  }
};

TEST_F(ErasedTest, AnErasureInTheLog) {
  MakeAndErase();
  LoseManifestAndRepair();
  ExpectKeptAndErased();
  EXPECT_FALSE(answer_.degraded) << "the log tells the order";
}

TEST_F(ErasedTest, AnErasureInATable) {
  MakeAndErase();
  FlushAll();
  LoseManifestAndRepair();
  ExpectKeptAndErased();
  EXPECT_EQ(answer_.missing, Items{"2026-03"}) << "plays after the erasure may be among them";
}

class ClearedTest : public ErasedTest {
 protected:
  // As MakeAndErase, in two collections, one of which is cleared with its filter.
  void MakeAndClear() {
    Open();
    Put("video", {});
    for (const char* collection : {"video", "default"}) {
      Play(kErased, Numbered("mar", 20), std::nullopt, collection);
      Serve(kErased, {"served"}, std::nullopt, collection);
    }
    Drain();
    FlushAll();
    clock_.Advance(1000);
    const std::string_view video[] = {"video"};
    ASSERT_TRUE(engine_->ClearHistory(IdRef(kErased), {.collections = video, .filter = true}).ok());
    clock_.Advance(1000);
    Serve(kErased, {"again"}, std::nullopt, "video");
  }
  void ExpectCleared() {
    EXPECT_EQ(Unseen(kErased, Numbered("mar", 21)), Items{"mar20"}) << "of the other collection";
    EXPECT_EQ(Unseen(kErased, {"served", "again"}), Items{"again"});
    EXPECT_FALSE(answer_.degraded);
    EXPECT_EQ(Unseen(kErased, Numbered("mar", 20), "video").size(), 20u);
    EXPECT_EQ(Unseen(kErased, {"served", "again", "new"}, "video"), (Items{"served", "new"}));
    EXPECT_EQ(Play(kErased, {"late"}, kStartMs, "video"), 0u) << "not after the clearing";
    EXPECT_EQ(Play(kErased, {"late"}, kStartMs), 1u);
  }
};

TEST_F(ClearedTest, AClearingInTheLog) {
  MakeAndClear();
  LoseManifestAndRepair();
  ExpectCleared();
  EXPECT_FALSE(answer_.degraded) << "the log tells the order";
}

TEST_F(ClearedTest, AClearingInATable) {
  MakeAndClear();
  FlushAll();
  LoseManifestAndRepair();
  ExpectCleared();
}

// What the log tells of one collection says nothing of another's, whose clearing is older.
TEST_F(ClearedTest, AClearingInTheLogBesideAnErasureInATable) {
  MakeAndErase();
  FlushAll();
  const std::string_view other[] = {"default"};
  Put("video", {});
  Play(kErased, {"a"}, std::nullopt, "video");
  ASSERT_TRUE(engine_->ClearHistory(IdRef("kept"), {.collections = other, .filter = true}).ok());
  LoseManifestAndRepair();
  EXPECT_EQ(Unseen("kept", Numbered("jan", 20)).size(), 20u);
  EXPECT_EQ(Unseen(kErased, Numbered("jan", 20)).size(), 20u);
  EXPECT_EQ(Unseen(kErased, {"a"}, "video"), Items{});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
