// What holds for single users holds where memory keeps the records of a few users alone.

#include <thread>

#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class FewRecordsTest : public EngineTest {
 protected:
  static constexpr int kEach = 12;  // users of a kind

  FewRecordsTest() {
    options_.shards = 1;
    options_.user_cache_bytes = 4 * 500;
    options_.block_cache_bytes = 0;  // no block stays
  }

  void OpenWithVideo() {
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    patch.history.deleted_items = DeletedItems::kRecommendAgain;
    Put("video", patch);
  }
  static std::string User(const std::string& kind, int i) { return kind + std::to_string(i); }
  // Every record with a table under it, and no block of it cached.
  void MakeCold() {
    Drain();
    ASSERT_TRUE(engine_->Compact().ok());
    Reopen();
  }
  Items History(const std::string& user, bool* degraded = nullptr) {
    HistoryPage page;
    const Status read = engine_->ReadHistory({.user = IdRef(user)}, &page);
    EXPECT_TRUE(read.ok()) << read.ToString();
    if (degraded != nullptr) *degraded = page.degraded;
    Items items;
    for (const HistoryEntry& entry : page.entries) items.push_back(entry.item);
    return items;
  }
  Status FilterInMemory(const std::string& user) {
    const IdRef items[] = {IdRef("v")};
    FilterRequest request;
    request.user = IdRef(user);
    request.items = items;
    request.memory_only = true;
    return engine_->Filter(request, &answer_);
  }
  Result<RecordResult> PlayInMemory(const Items& users, int64_t at_ms) {
    std::vector<seendb::Play> plays;
    for (const std::string& user : users) plays.push_back({IdRef(user), IdRef("v"), at_ms});
    return engine_->RecordPlays(plays, {.memory_only = true});
  }

  // Erased, cleared with the filter, paused, with an item that may be recommended again.
  void MakeRecords() {
    for (int i = 0; i < kEach; ++i) {
      for (const char* kind : {"erased", "cleared", "paused", "deleted"}) {
        ASSERT_EQ(Play(User(kind, i), {"v1", "v2"}, kStartMs - kHourMs, "video"), 2u);
      }
      ASSERT_TRUE(engine_->EraseUser(IdRef(User("erased", i))).ok());
      ASSERT_TRUE(engine_->ClearHistory(IdRef(User("cleared", i)), {.filter = true}).ok());
      ASSERT_TRUE(engine_->SetRecording(IdRef(User("paused", i)), true).ok());
      const IdRef items[] = {IdRef("v1")};
      ASSERT_TRUE(engine_->DeleteHistory(IdRef(User("deleted", i)), "video", items).ok());
    }
  }
  void ExpectAllHolds() {
    for (int i = 0; i < kEach; ++i) {
      SCOPED_TRACE(i);
      const std::string late = "late" + std::to_string(clock_.NowMs() % 1000);
      EXPECT_EQ(Play(User("erased", i), {late}, kStartMs - 1, "video"), 0u);
      EXPECT_EQ(Unseen(User("erased", i), {"v1"}, "video"), Items{"v1"});
      EXPECT_EQ(Play(User("cleared", i), {late}, kStartMs - 1, "video"), 0u);
      EXPECT_EQ(Unseen(User("cleared", i), {"v1"}, "video"), Items{"v1"});
      EXPECT_EQ(Play(User("paused", i), {late}, std::nullopt, "video"), 1u);
      EXPECT_EQ(History(User("paused", i)), (Items{"v1", "v2"}));
      EXPECT_EQ(Unseen(User("paused", i), {late, "new"}, "video"), Items{"new"});
      EXPECT_EQ(Unseen(User("deleted", i), {"v1", "v2"}, "video"), Items{"v1"});
      EXPECT_EQ(History(User("deleted", i)), Items{"v2"});
      EXPECT_EQ(Play(User("nobody", i), {late}, kStartMs - 1, "video"), 1u);
      EXPECT_LE(engine_->Stats().user_cache_bytes, options_.user_cache_bytes);
    }
  }
};

TEST_F(FewRecordsTest, ErasuresClearsPausesAndOverridesHold) {
  OpenWithVideo();
  MakeRecords();
  clock_.Advance(1);
  ExpectAllHolds();
  clock_.Advance(1);
  Drain();
  ExpectAllHolds();
  const EngineStats stats = engine_->Stats();
  EXPECT_GT(stats.user_cache_misses, 0u);
  EXPECT_GT(stats.user_cache_hits, 0u);
}

TEST_F(FewRecordsTest, AnOpeningKnowsAllOfThem) {
  OpenWithVideo();
  MakeRecords();
  Reopen();
  EXPECT_EQ(engine_->Stats().user_cache_bytes, 0u);
  EXPECT_GT(engine_->Stats().user_directory_bytes, 0u);
  clock_.Advance(1);
  ExpectAllHolds();
  MakeCold();
  clock_.Advance(1);
  ExpectAllHolds();
  // A play ends an override that only the disk has.
  MakeCold();
  clock_.Advance(1);
  EXPECT_EQ(Play("deleted0", {"v1"}, std::nullopt, "video"), 1u);
  EXPECT_EQ(Unseen("deleted0", {"v1", "v2"}, "video"), Items{});
  EXPECT_EQ(Unseen("deleted1", {"v1", "v2"}, "video"), Items{"v1"});
}

// Journal records of before an erasure, or a clear, are not staged again.
TEST_F(FewRecordsTest, AReplayKnowsWhatWasForgotten) {
  OpenWithVideo();
  for (int i = 0; i < kEach; ++i) {
    Play(User("erased", i), {"v"}, std::nullopt, "video");
    Play(User("cleared", i), {"v"}, std::nullopt, "video");
    Play(User("kept", i), {"v"}, std::nullopt, "video");
  }
  for (int i = 0; i < kEach; ++i) {
    ASSERT_TRUE(engine_->EraseUser(IdRef(User("erased", i))).ok());
    ASSERT_TRUE(engine_->ClearHistory(IdRef(User("cleared", i)), {.filter = true}).ok());
  }
  Reopen();
  EXPECT_EQ(engine_->Stats().replayed_plays, static_cast<uint64_t>(2 * kEach))
      << "a cleared play is history's still, which its time hides";
  for (int i = 0; i < kEach; ++i) {
    EXPECT_EQ(Unseen(User("erased", i), {"v"}, "video"), Items{"v"});
    EXPECT_EQ(Unseen(User("cleared", i), {"v"}, "video"), Items{"v"});
    EXPECT_EQ(Unseen(User("kept", i), {"v"}, "video"), Items{});
    EXPECT_EQ(History(User("cleared", i)), Items{});
  }
}

TEST_F(FewRecordsTest, ACollectionThatGoesTakesItsMarksAlong) {
  MemDisk disk;  // for its fast syncs
  env_ = disk.env();
  OpenWithVideo();
  const int users = 2'100;  // more than two batches
  const std::string_view only[] = {"video"};
  for (int i = 0; i < users; ++i) {
    ASSERT_TRUE(engine_->ClearHistory(IdRef(User("u", i)), {.collections = only}).ok());
  }
  ASSERT_TRUE(engine_->EraseUser(IdRef("u7"), {.always = true}).ok());
  ASSERT_TRUE(engine_->DeleteCollection("video").ok());
  PolicyPatch patch;
  patch.history.enabled = true;
  Put("video", patch);
  for (int i = 0; i < users; i += 150) {
    Play(User("u", i), {"old"}, kStartMs - kHourMs, "video");
    EXPECT_EQ(History(User("u", i)), Items{"old"}) << i;
  }
  EXPECT_EQ(Play("u7", {"old"}, kStartMs - kHourMs, "video"), 0u) << "an erasure is of all";
  engine_.reset();
}

TEST_F(FewRecordsTest, MemoryAloneDefersAFilterOfARecordThatIsNotThere) {
  OpenWithVideo();
  ASSERT_TRUE(engine_->EraseUser(IdRef("u"), {.always = true}).ok());
  MakeCold();
  EXPECT_TRUE(FilterInMemory("somebody").ok()) << "no record";
  EXPECT_EQ(FilterInMemory("u").code(), StatusCode::kIncomplete);
  EXPECT_TRUE(answer_.needs_disk);
  EXPECT_FALSE(answer_.degraded);
  EXPECT_EQ(Unseen("u", {"v"}), Items{"v"});
  EXPECT_TRUE(FilterInMemory("u").ok()) << "cached";
}

TEST_F(FewRecordsTest, MemoryAloneDefersPlaysAndRecordsNone) {
  options_.shards = 2;
  OpenWithVideo();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(engine_->EraseUser(IdRef(User("u", i)), {.always = true}).ok());
  }
  MakeCold();
  clock_.Advance(1);
  EXPECT_TRUE(PlayInMemory({"somebody", "else"}, kStartMs).ok());
  const Items users = {"a", "b", "c", "u0", "u1", "u2", "u3"};
  EXPECT_EQ(PlayInMemory(users, kStartMs).status().code(), StatusCode::kIncomplete);
  for (const std::string& user : users) EXPECT_EQ(Unseen(user, {"v"}), Items{"v"}) << user;
  EXPECT_EQ(engine_->Stats().plays_accepted, 2u);
  EXPECT_EQ(Play("u0", {"v"}, kStartMs), 0u);
  const auto known = PlayInMemory({"u0"}, kStartMs);
  ASSERT_TRUE(known.ok());
  EXPECT_EQ(known->refused, 1u);
  EXPECT_EQ(known->refusals.front().status.field(), "/at");
}

TEST_F(FewRecordsTest, WhereTheDiskFailsFiltersAreDegradedAndPlaysFail) {
  MemDisk disk;
  env_ = disk.env();
  OpenWithVideo();
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  MakeCold();
  disk.Fail(MemDisk::kRead, ".sst", rocksdb::IOStatus::IOError("no disk"));
  EXPECT_EQ(Unseen("u", {"v"}), Items{"v"});
  EXPECT_TRUE(answer_.degraded);
  EXPECT_EQ(answer_.missing, Items{"user"});
  const seendb::Play plays[] = {{IdRef("u"), IdRef("v")}};
  EXPECT_EQ(engine_->RecordPlays(plays, {.collection = "video"}).status().code(),
            StatusCode::kIOError);
  EXPECT_EQ(Play("somebody", {"v"}, std::nullopt, "video"), 1u);
  bool degraded = false;
  EXPECT_EQ(History("u", &degraded), Items{});
  EXPECT_TRUE(degraded);
  EXPECT_EQ(engine_->GetRecording(IdRef("u")).status().code(), StatusCode::kIOError);
  disk.Clear();
  EXPECT_EQ(Play("u", {"v"}, std::nullopt, "video"), 1u);
  EXPECT_EQ(History("u"), Items{}) << "it is paused";
  EXPECT_EQ(Unseen("u", {"v"}, "video"), Items{});
  EXPECT_FALSE(answer_.degraded);
  engine_.reset();
}

// As a record that was damaged when the shard was opened.
TEST_F(FewRecordsTest, ADamagedRecordKeepsPlaysOutOfHistoryAlone) {
  MemDisk disk;
  env_ = disk.env();
  OpenWithVideo();
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), false).ok());
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  MakeCold();
  disk.Fail(MemDisk::kRead, ".sst", rocksdb::IOStatus::Corruption("rot"));
  EXPECT_EQ(Play("u", {"v"}, std::nullopt, "video"), 1u);
  EXPECT_EQ(engine_->GetRecording(IdRef("u")).status().code(), StatusCode::kCorruption);
  bool named = false;
  for (const std::string& problem : engine_->Stats().problems) {
    named = named || problem.find("the record of user u") != std::string::npos;
  }
  EXPECT_TRUE(named);
  disk.Clear();
  EXPECT_EQ(Unseen("u", {"v"}, "video"), Items{});
  EXPECT_EQ(History("u"), Items{});
  engine_.reset();
}

// The record was looked up when the user had none; the erasure comes before the write.
TEST_F(FewRecordsTest, APlayKnowsOfAnErasureAfterItsLookUp) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenWithVideo();
  uint64_t accepted = 99;
  Hold hold("users: loaded");
  std::thread player([&] { accepted = Play("u", {"v"}, kStartMs, "video"); });
  ASSERT_TRUE(hold.WaitReached());
  ASSERT_TRUE(engine_->EraseUser(IdRef("u"), {.always = true}).ok());
  hold.Release();
  player.join();
  EXPECT_EQ(accepted, 0u);
  EXPECT_EQ(Unseen("u", {"v"}, "video"), Items{"v"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
