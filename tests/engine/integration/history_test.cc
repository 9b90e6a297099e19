// History through the whole engine: what a call refuses, what a page shows while plays arrive, what
// a drain writes, what comes and goes with buckets and policies.

#include <set>

#include "format/history_codec.h"
#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class HistoryTest : public EngineTest {
 protected:
  HistoryTest() {
    options_.shards = 1;
    patch_.history.enabled = true;
  }
  void OpenWithHistory() {
    Open();
    Put("video", patch_);
  }

  Status TryWatch(const std::string& item, const Watch& watch, std::optional<int64_t> at_ms = {},
                  const std::string& collection = "video") {
    const seendb::Play play{IdRef("u"), IdRef(item), at_ms, &watch};
    return engine_->RecordPlays({&play, 1}, {.collection = collection}).status();
  }
  void WatchItem(const std::string& item, std::optional<int64_t> at_ms = {}, int32_t progress_s = 0,
                 const std::string& collection = "video") {
    const Status recorded = TryWatch(item, {.progress_s = progress_s}, at_ms, collection);
    ASSERT_TRUE(recorded.ok()) << recorded.ToString();
  }
  HistoryPage Read(uint32_t limit = 20, const std::string& cursor = {}) {
    HistoryPage page;
    const Status read =
        engine_->ReadHistory({.user = IdRef("u"), .limit = limit, .cursor = cursor}, &page);
    EXPECT_TRUE(read.ok()) << read.ToString();
    return page;
  }
  static Items ItemsOf(const HistoryPage& page) {
    Items items;
    for (const HistoryEntry& entry : page.entries) items.push_back(entry.item);
    return items;
  }
  Items All() { return ItemsOf(Read(1000)); }
  void Delete(const Items& items, const std::string& collection = "video") {
    const std::vector<IdRef> ids(items.begin(), items.end());
    const Status deleted = engine_->DeleteHistory(IdRef("u"), collection, ids);
    ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  }
  std::set<std::string> FamiliesWith(const std::string& prefix) {
    std::set<std::string> names;
    const Status scanned = engine_->Scan(prefix, [&](const ScanRow& row) {
      names.insert(row.family);
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return names;
  }

  PolicyPatch patch_;
};

TEST_F(HistoryTest, WhatWasReportedIsReadBackAtOnceAndAsItWasSaid) {
  OpenWithHistory();
  const Watch watch{.progress_s = 95, .duration_s = 240, .device = "tv", .fields = R"({"a":1})"};
  ASSERT_TRUE(TryWatch("v1", watch, kStartMs - 5).ok());
  for (const char* when : {"staged", "replayed", "drained", "reopened"}) {
    const HistoryPage page = Read();
    ASSERT_EQ(page.entries.size(), 1u) << when;
    const HistoryEntry& entry = page.entries[0];
    EXPECT_EQ(entry.collection, "video");
    EXPECT_EQ(entry.item, "v1");
    EXPECT_EQ(entry.at_ms, kStartMs - 5);
    EXPECT_EQ(entry.progress_s, 95);
    EXPECT_EQ(entry.duration_s, 240);
    EXPECT_EQ(entry.device, "tv");
    EXPECT_EQ(entry.fields, R"({"a":1})");
    EXPECT_TRUE(page.cursor.empty());
    if (when == std::string("replayed")) {
      Drain();
    } else {
      Reopen();
    }
  }
}

TEST_F(HistoryTest, HeartbeatsOfAnItemAreWrittenOnce) {
  OpenWithHistory();
  for (int i = 0; i < 500; ++i) WatchItem("v1", kStartMs + i, i);
  WatchItem("v2", kStartMs, 7);
  Drain();
  const EngineStats stats = engine_->Stats();
  EXPECT_EQ(stats.history_recorded, 501u);
  EXPECT_EQ(stats.history_drained, 2u);
  EXPECT_EQ(Read().entries[0].progress_s, 499);
  WatchItem("v1", kStartMs + 10, 999);
  EXPECT_EQ(Read().entries[0].progress_s, 499) << "late";
}

TEST_F(HistoryTest, RefusalsNameTheField) {
  OpenWithHistory();
  EXPECT_EQ(TryWatch("v", {.progress_s = -2}).field(), "/0/progress_s");
  EXPECT_EQ(TryWatch("v", {.duration_s = -1}).field(), "/0/duration_s");
  EXPECT_EQ(TryWatch("v", {.device = std::string(65, 'd')}).field(), "/0/device");
  EXPECT_EQ(TryWatch("v", {.device = "\xff"}).field(), "/0/device");
  EXPECT_EQ(TryWatch("v", {.fields = std::string(1025, 'f')}).field(), "/0/fields");
  EXPECT_TRUE(
      TryWatch("v", {.device = std::string(64, 'd'), .fields = std::string(1024, 'f')}).ok());
  EXPECT_TRUE(TryWatch("v", {.progress_s = -2}, std::nullopt, "default").ok()) << "without history";

  HistoryPage page;
  const auto read = [&](const HistoryRequest& request) {
    return engine_->ReadHistory(request, &page);
  };
  EXPECT_EQ(read({.user = IdRef("")}).field(), "/user");
  EXPECT_EQ(read({.user = IdRef("u"), .limit = 0}).field(), "/limit");
  EXPECT_EQ(read({.user = IdRef("u"), .limit = 1001}).field(), "/limit");
  EXPECT_EQ(read({.user = IdRef("u"), .cursor = "none"}).field(), "/cursor");
  const std::string_view unknown[] = {"video", "nothing"}, without[] = {"default"};
  EXPECT_EQ(read({.user = IdRef("u"), .collections = unknown}).code(), StatusCode::kNotFound);
  EXPECT_EQ(read({.user = IdRef("u"), .collections = unknown}).field(), "/collections/1");
  EXPECT_EQ(read({.user = IdRef("u"), .collections = without}).field(), "/collections/0");

  HistoryLookup found;
  const std::vector<IdRef> ill = {IdRef("a"), IdRef("")};
  const std::vector<IdRef> many(1001, IdRef("a"));
  EXPECT_EQ(engine_->LookupHistory(IdRef("u"), "video", ill, &found).field(), "/items/1");
  EXPECT_EQ(engine_->LookupHistory(IdRef("u"), "video", many, &found).field(), "/items");
  EXPECT_EQ(engine_->LookupHistory(IdRef("u"), "default", {}, &found).field(), "/collection");
  EXPECT_EQ(engine_->DeleteHistory(IdRef("u"), "video", ill).field(), "/items/1");
  EXPECT_EQ(engine_->DeleteHistory(IdRef("u"), "video", many).field(), "/items");
  EXPECT_EQ(engine_->ClearHistory(IdRef("u"), {unknown}).field(), "/collections/1");
  EXPECT_EQ(engine_->SetRecording(IdRef(""), true).field(), "/user");
  EXPECT_EQ(engine_->GetRecording(IdRef("")).status().field(), "/user");
}

// Pages that were begun go on where they were, whatever is played meanwhile.
TEST_F(HistoryTest, ACursorStaysWhilePlaysArrive) {
  OpenWithHistory();
  for (int i = 0; i < 10; ++i) WatchItem("v" + std::to_string(i), kStartMs - i);
  const HistoryPage first = Read(4);
  EXPECT_EQ(ItemsOf(first), Numbered("v", 4));
  WatchItem("new", kStartMs + 1);
  WatchItem("v6", kStartMs + 2);  // watched again: it belongs to the front now
  Drain();
  Delete({"v7"});
  const HistoryPage second = Read(4, first.cursor);
  EXPECT_EQ(ItemsOf(second), (Items{"v4", "v5", "v8", "v9"}));
  EXPECT_TRUE(second.cursor.empty());
  EXPECT_EQ(ItemsOf(Read(3)), (Items{"v6", "new", "v0"}));
}

TEST_F(HistoryTest, WithoutTheSwitchNothingIsKept) {
  Open();
  WatchItem("v1", std::nullopt, 5, "default");
  PolicyPatch on;
  on.history.enabled = true;
  Put("default", on);
  EXPECT_EQ(All(), Items{}) << "of before";
  WatchItem("v2", std::nullopt, 5, "default");
  EXPECT_EQ(All(), Items{"v2"});
  Drain();
  on.history.enabled = false;
  Put("default", on);
  EXPECT_EQ(All(), Items{});
  WatchItem("v3", std::nullopt, 5, "default");
  on.history.enabled = true;
  Put("default", on);
  EXPECT_EQ(All(), Items{"v2"});
  Reopen();
  EXPECT_EQ(All(), Items{"v2"});
}

// A play is journalled once: with what history needs where it enters, else for the filter alone.
TEST_F(HistoryTest, APlayIsJournalledOnce) {
  OpenWithHistory();
  ASSERT_TRUE(engine_->SetRecording(IdRef("p"), true).ok());
  const seendb::Play plays[] = {{IdRef("u"), IdRef("v1"), kStartMs},
                                {IdRef("p"), IdRef("v2"), kStartMs},
                                {IdRef("u"), IdRef(uint64_t{42}), kStartMs}};
  ASSERT_TRUE(engine_->RecordPlays(plays, {.collection = "video"}).ok());
  WatchItem("v3", kStartMs + 1);
  Items journalled;
  const auto row = [&](const ScanRow& scanned) {
    journalled.push_back(scanned.value);
    return true;
  };
  ASSERT_TRUE(engine_->Scan("ring/", row).ok());
  EXPECT_EQ(journalled, (Items{"collection=video plays=1", "collection=video history=2",
                               "collection=video history=1"}));
  for (const char* when : {"staged", "replayed", "drained"}) {
    EXPECT_EQ(Unseen("u", {"v1", "v2", "v3", "42"}, "video"), Items{"v2"}) << when;
    EXPECT_EQ(Unseen("p", {"v1", "v2"}, "video"), Items{"v1"}) << when;
    EXPECT_EQ(All(), (Items{"v3", "42", "v1"})) << when;
    if (when != std::string("staged")) Drain();
    Reopen();
  }
}

// What was kept before the switch went off does not come back with it.
TEST_F(HistoryTest, ClearedWhileOffStaysCleared) {
  OpenWithHistory();
  for (const bool drained : {false, true}) {
    WatchItem("v1", clock_.NowMs());
    if (drained) Drain();
    patch_.history.enabled = false;
    Put("video", patch_);
    ASSERT_TRUE(engine_->ClearHistory(IdRef("u")).ok());
    patch_.history.enabled = true;
    Put("video", patch_);
    EXPECT_EQ(All(), Items{}) << drained;
    Drain();
    EXPECT_EQ(All(), Items{}) << drained;
    EXPECT_TRUE(FamiliesWith("history/").empty()) << "rows";
    EXPECT_EQ(Unseen("u", {"v1"}, "video"), Items{});
    clock_.Advance(1);
    WatchItem("v2", clock_.NowMs());
    EXPECT_EQ(All(), Items{"v2"});
    ASSERT_TRUE(engine_->ClearHistory(IdRef("u")).ok());
    clock_.Advance(1);
  }
}

TEST_F(HistoryTest, BucketsComeAndGoWithDaysNotWithRetention) {
  patch_.bucket = BucketSpec{BucketKind::kDays, 1};
  patch_.window = patch_.retention = 2;
  patch_.history.days = 4;
  OpenWithHistory();
  WatchItem("v0");
  for (int day = 1; day <= 4; ++day) {
    clock_.Advance(kDayMs);
    WatchItem("v" + std::to_string(day));
  }
  Drain();
  ASSERT_TRUE(engine_->DropExpired().ok());
  EXPECT_EQ(All(), (Items{"v4", "v3", "v2", "v1", "v0"})) << "the bucket that 4 days end in stays";
  EXPECT_EQ(FamiliesWith("history/video").size(), 5u);
  EXPECT_EQ(FamiliesWith("timeline/video").size(), 5u);
  const uint32_t families = engine_->Stats().column_families;
  clock_.Advance(kDayMs);
  EXPECT_EQ(All(), (Items{"v4", "v3", "v2", "v1"})) << "before it is dropped";
  ASSERT_TRUE(engine_->DropExpired().ok());
  EXPECT_EQ(FamiliesWith("history/video").size(), 4u);
  EXPECT_LE(engine_->Stats().column_families, families - 2);
  Reopen();
  EXPECT_EQ(All(), (Items{"v4", "v3", "v2", "v1"}));
}

// At the first instant of the window after a bucket's history has expired it is dropped.
TEST_F(HistoryTest, MaintenanceDropsAndTrims) {
  patch_.bucket = BucketSpec{BucketKind::kDays, 1};
  patch_.window = patch_.retention = 3;
  patch_.history.days = 1;
  patch_.history.max_entries = 2;
  OpenWithHistory();  // at 12:00
  for (int i = 0; i < 5; ++i) WatchItem("v" + std::to_string(i), kStartMs - i);
  Drain();
  EXPECT_EQ(All(), Numbered("v", 2)) << "hidden";
  RunDue();
  EXPECT_EQ(engine_->Stats().history_evicted, 0u) << "outside the window";
  clock_.Set(kStartMs + 13 * kHourMs);  // 01:00
  RunDue();
  EXPECT_EQ(engine_->Stats().history_evicted, 3u);
  patch_.history.max_entries = 10;
  Put("video", patch_);
  EXPECT_EQ(All(), Numbered("v", 2)) << "gone for good";
  WatchItem("again", kStartMs - 2);
  EXPECT_EQ(All(), Numbered("v", 2)) << "so is what is not after what was evicted";
  EXPECT_EQ(FamiliesWith("history/video").size(), 1u);
  clock_.Set(kStartMs + 37 * kHourMs);
  RunDue();
  EXPECT_TRUE(FamiliesWith("history/video").empty());
}

// What was brought in with one time for all is no reason to lose what the cap keeps.
TEST_F(HistoryTest, EntriesOfOneTimeAreNotEvictedTogether) {
  patch_.history.max_entries = 3;
  OpenWithHistory();
  for (int i = 0; i < 5; ++i) WatchItem("v" + std::to_string(i), kStartMs - 9);
  Drain();
  clock_.Set(kStartMs + 13 * kHourMs);
  RunDue();
  EXPECT_EQ(engine_->Stats().history_evicted, 0u);
  EXPECT_EQ(All(), Numbered("v", 3));
  for (int i = 0; i < 2; ++i) WatchItem("w" + std::to_string(i), kStartMs - 8);
  for (int i = 0; i < 4; ++i) WatchItem("x" + std::to_string(i), kStartMs - 10);
  Drain();
  clock_.Set(kStartMs + 37 * kHourMs);
  RunDue();
  EXPECT_EQ(engine_->Stats().history_evicted, 4u) << "those older than what the cap keeps";
  EXPECT_EQ(All(), (Items{"w0", "w1", "v0"}));
  patch_.history.max_entries = 10;
  Put("video", patch_);
  EXPECT_EQ(All(), (Items{"w0", "w1", "v0", "v1", "v2", "v3", "v4"}));
}

TEST_F(HistoryTest, ACollectionThatNeedsTooManyFamiliesIsRefused) {
  options_.max_column_families = 60;
  Open();
  patch_.bucket = BucketSpec{BucketKind::kDays, 1};
  patch_.history.days = 90;
  EXPECT_EQ(engine_->PutCollection("video", patch_).code(), StatusCode::kIncompatible);
  patch_.history.days = 5;
  Put("video", patch_);
}

TEST_F(HistoryTest, ServedItemsNeverEnter) {
  patch_.served_is_seen = true;
  OpenWithHistory();
  Serve("u", {"served"}, std::nullopt, "video");
  EXPECT_EQ(Unseen("u", {"served"}, "video"), Items{});
  Drain();
  EXPECT_EQ(All(), Items{});
}

TEST_F(HistoryTest, OnlyIdsAndTimesWhereThePolicySaysSo) {
  patch_.history.ids_only = true;
  OpenWithHistory();
  ASSERT_TRUE(TryWatch("v", {.progress_s = 5, .duration_s = 6, .device = "tv"}).ok());
  const HistoryPage page = Read();
  ASSERT_EQ(page.entries.size(), 1u);
  EXPECT_EQ(page.entries[0].progress_s, 0);
  EXPECT_EQ(page.entries[0].duration_s, 0);
  EXPECT_EQ(page.entries[0].device, "");
}

// Deletions, clears, pauses are on the disk when they are answered: a power loss brings nothing
// back.
TEST_F(HistoryTest, NothingDeletedComesBackAfterPowerLoss) {
  MemDisk disk;
  env_ = disk.env();
  OpenWithHistory();
  Put("books", patch_);
  for (const char* item : {"deleted", "kept"}) WatchItem(item);
  WatchItem("cleared", kStartMs + kHourMs, 0, "books");
  ASSERT_TRUE(engine_->Sync().ok());
  Delete({"deleted"});
  const std::string_view books[] = {"books"};
  ASSERT_TRUE(engine_->ClearHistory(IdRef("u"), {books}).ok());
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  disk.Crash();
  engine_.reset();
  disk.PowerCut(1);
  disk.Revive();
  Open();
  EXPECT_EQ(All(), Items{"kept"});
  WatchItem("deleted", kStartMs);
  WatchItem("cleared", kStartMs + kHourMs, 0, "books");
  WatchItem("paused", kStartMs + 1);
  Drain();
  EXPECT_EQ(All(), Items{"kept"});
  EXPECT_TRUE(engine_->GetRecording(IdRef("u"))->paused);
  EXPECT_EQ(engine_->GetRecording(IdRef("u"))->since_ms, kStartMs);
  engine_.reset();
}

TEST_F(HistoryTest, ACheckpointHasItAll) {
  OpenWithHistory();
  for (int i = 0; i < 5; ++i) WatchItem("v" + std::to_string(i), kStartMs - i);
  Drain();
  WatchItem("staged", kStartMs - 10);
  Delete({"v2"});
  const std::string copy = dir_ + "/copy";
  const auto made = engine_->Checkpoint(copy);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  engine_.reset();
  std::filesystem::remove_all(Path());
  std::filesystem::rename(copy, Path());
  Open();
  EXPECT_EQ(All(), (Items{"v0", "v1", "v3", "v4", "staged"}));
}

TEST_F(HistoryTest, AReadOnlyOpeningReadsAndChangesNothing) {
  OpenWithHistory();
  WatchItem("drained", kStartMs - 1);
  Drain();
  WatchItem("staged");
  engine_.reset();
  options_.read_only = true;
  Open();
  EXPECT_EQ(All(), (Items{"staged", "drained"}));
  const IdRef item("staged");
  EXPECT_FALSE(engine_->DeleteHistory(IdRef("u"), "video", {&item, 1}).ok());
  EXPECT_FALSE(engine_->ClearHistory(IdRef("u")).ok());
  EXPECT_FALSE(engine_->SetRecording(IdRef("u"), true).ok());
  EXPECT_EQ(All(), (Items{"staged", "drained"}));
}

TEST_F(HistoryTest, DamageIsToldAndKeepsNothingElseFromBeingRead) {
  OpenWithHistory();
  for (int i = 0; i < 4; ++i) WatchItem("v" + std::to_string(i), kStartMs - i, i);
  Drain();
  engine_.reset();
  const std::string family = "history/video/2026-03";
  {
    RawShard shard(Path());
    shard.Put(family, HistoryKey("u", "v1"), "no state");
    shard.Merge(family, HistoryKey("u", "v2"), "no operand");
  }
  Open();
  HistoryPage page = Read();
  EXPECT_EQ(ItemsOf(page), (Items{"v0", "v2", "v3"}));
  EXPECT_TRUE(page.degraded);
  EXPECT_EQ(page.missing, Items{"video/2026-03"});
  HistoryLookup found;
  const IdRef items[] = {IdRef("v0"), IdRef("v1"), IdRef("v2")};
  ASSERT_TRUE(engine_->LookupHistory(IdRef("u"), "video", {items, 1}, &found).ok());
  EXPECT_FALSE(found.degraded);
  ASSERT_TRUE(engine_->LookupHistory(IdRef("u"), "video", items, &found).ok());
  EXPECT_TRUE(found.degraded);
  EXPECT_FALSE(found.entries[1].has_value());
  EXPECT_TRUE(found.entries[2].has_value());
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 2u);
  const auto report = engine_->Inspect(IdRef("u"));
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->history.size(), 1u);
  EXPECT_EQ(report->history[0].items, 4u);
  EXPECT_EQ(report->history[0].rows, 4u);
  EXPECT_EQ(report->history[0].damaged, 2u);
  // What can't be read may be later than now: the deletion covers that too.
  Delete({"v1"});
  WatchItem("v1", kStartMs + 23 * kHourMs);
  WatchItem("v9", kStartMs + 23 * kHourMs);
  EXPECT_EQ(ItemsOf(Read()), (Items{"v9", "v0", "v2", "v3"}));
}

TEST_F(HistoryTest, AUserRecordThatCannotBeReadKeepsHistoryClosed) {
  OpenWithHistory();
  WatchItem("before");
  engine_.reset();
  for (const bool merged : {true, false}) {
    {
      RawShard shard(Path());
      merged ? shard.Merge("users", "u", "noise") : shard.Put("users", "u", "noise");
    }
    Open();
    WatchItem("after", kStartMs + 1);
    EXPECT_EQ(All(), Items{"before"});
    EXPECT_EQ(Unseen("u", {"after"}, "video"), Items{}) << "the filter learns";
    EXPECT_EQ(engine_->GetRecording(IdRef("u")).status().code(), StatusCode::kCorruption);
    EXPECT_EQ(engine_->SetRecording(IdRef("u"), false).code(), StatusCode::kCorruption);
    const seendb::Play other{IdRef("w"), IdRef("v"), std::nullopt};
    ASSERT_TRUE(engine_->RecordPlays({&other, 1}, {.collection = "video"}).ok());
    HistoryPage page;
    ASSERT_TRUE(engine_->ReadHistory({.user = IdRef("w")}, &page).ok());
    EXPECT_EQ(page.entries.size(), 1u) << "others are not concerned";
    engine_.reset();
  }
}

// What was accepted under another policy is cleared and deleted all the same.
TEST_F(HistoryTest, WhatIsToComeIsClearedHoweverFar) {
  patch_.max_future_ms = 30 * kDayMs;
  OpenWithHistory();
  for (const bool drained : {false, true}) {
    patch_.max_future_ms = 30 * kDayMs;
    Put("video", patch_);
    WatchItem("far", clock_.NowMs() + 20 * kDayMs);
    WatchItem("farther", clock_.NowMs() + 21 * kDayMs);
    if (drained) Drain();
    patch_.max_future_ms = 0;
    Put("video", patch_);
    Delete({"farther"});
    EXPECT_EQ(All(), Items{"far"});
    ASSERT_TRUE(engine_->ClearHistory(IdRef("u")).ok());
    EXPECT_EQ(All(), Items{});
    Drain();
    EXPECT_EQ(All(), Items{});
    clock_.Advance(25 * kDayMs);
  }
}

TEST_F(HistoryTest, AnErasureLeavesNoByteOfIt) {
  OpenWithHistory();
  WatchItem("item-to-forget", kStartMs - 1);
  Drain();
  WatchItem("staged-to-forget", kStartMs + kHourMs);
  Delete({"deleted-to-forget"});
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  EXPECT_EQ(All(), Items{});
  EXPECT_TRUE(FamiliesWith("history/").empty());
  EXPECT_TRUE(FamiliesWith("timeline/").empty());
  EXPECT_TRUE(engine_->Inspect(IdRef("u"))->history.empty());
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_EQ(All(), Items{});
  EXPECT_TRUE(FamiliesWith("history/").empty());
  clock_.Advance(kHourMs + 1);
  WatchItem("new");
  EXPECT_EQ(All(), Items{"new"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
