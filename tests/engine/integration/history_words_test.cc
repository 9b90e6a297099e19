// What reports say of an item, through the whole engine: a report that says less takes nothing
// back, reports of one time are settled by their numbers, in memory, in one bucket and over
// several; deletions and clearings end what was said; values that version 1 wrote follow the same
// rules.

#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <sstream>
#include <string>

#include "format/bytes.h"
#include "format/history_codec.h"
#include "store/files.h"
#include "support/engine_fixture.h"
#include "support/hold.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kSecondMs = 1'000;

class HistoryWordsTest : public EngineTest {
 protected:
  HistoryWordsTest() {
    options_.shards = 1;
    patch_.bucket = BucketSpec{BucketKind::kDays, 1};
    patch_.window = patch_.retention = 20;
    patch_.history.enabled = true;
    patch_.history.days = 10;
  }
  void OpenWithHistory() {
    Open();
    Put("video", patch_);
  }
  void Say(const Watch& watch, int64_t at_ms, const std::string& item = "v") {
    const seendb::Play play{IdRef("u"), IdRef(item), at_ms, &watch};
    const auto recorded = engine_->RecordPlays({&play, 1}, {.collection = "video"});
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    ASSERT_EQ(recorded->accepted, 1u);
  }
  std::optional<HistoryEntry> Entry(const std::string& item = "v") {
    const IdRef ids[] = {IdRef(item)};
    HistoryLookup found;
    const Status read = engine_->LookupHistory(IdRef("u"), "video", ids, &found);
    EXPECT_TRUE(read.ok()) << read.ToString();
    EXPECT_FALSE(found.degraded);
    HistoryPage page;
    EXPECT_TRUE(engine_->ReadHistory({.user = IdRef("u"), .limit = 100}, &page).ok());
    std::optional<HistoryEntry> listed;
    for (const HistoryEntry& entry : page.entries) {
      if (entry.item == item) listed = entry;
    }
    const std::optional<HistoryEntry>& entry = found.entries.at(0);
    EXPECT_EQ(Text(listed), Text(entry)) << "a page and a look-up";
    return entry;
  }
  static std::string Text(const std::optional<HistoryEntry>& entry) {
    if (!entry) return "nothing";
    return std::to_string((entry->at_ms - kStartMs) / kSecondMs) + "s " +
           std::to_string(entry->progress_s) + "/" + std::to_string(entry->duration_s) + " " +
           entry->device + " " + entry->fields;
  }
  // The same while it is staged, drained, and read again from the disk.
  void ExpectEverywhere(const std::string& expected) {
    EXPECT_EQ(Text(Entry()), expected) << "staged";
    Reopen();
    EXPECT_EQ(Text(Entry()), expected) << "replayed";
    Drain();
    EXPECT_EQ(Text(Entry()), expected) << "drained";
    Reopen();
    EXPECT_EQ(Text(Entry()), expected) << "reopened";
  }

  // Of the day of kStartMs.
  void ExpectOneRowOfPositionAlone() {
    engine_.reset();
    const auto rows = RawShard(Path()).All("history/video/2026-03-10");
    ASSERT_EQ(rows.size(), 1u);
    HistoryValue read;
    ASSERT_TRUE(read.Parse(rows.begin()->second));
    EXPECT_TRUE(read.state.progress_s.said());
    EXPECT_FALSE(read.state.duration_s.said());
    EXPECT_FALSE(read.state.device.said());
  }

  PolicyPatch patch_;
};

TEST_F(HistoryWordsTest, WhatAReportDoesNotSayStays) {
  OpenWithHistory();
  Say({.progress_s = 1200, .duration_s = 3000, .device = "tv", .fields = "{}"},
      kStartMs - 60 * kSecondMs);
  Say({}, kStartMs - kSecondMs);
  ExpectEverywhere("-1s 1200/3000 tv {}");
}

TEST_F(HistoryWordsTest, APositionOfZeroIsSaidAndADurationOfZeroIsNot) {
  OpenWithHistory();
  Say({.progress_s = 1200, .duration_s = 3000}, kStartMs - 60 * kSecondMs);
  Say({.progress_s = 0, .duration_s = 0}, kStartMs - kSecondMs);
  ExpectEverywhere("-1s 0/3000  ");
}

TEST_F(HistoryWordsTest, ALateReportFillsInWhatIsNotSaid) {
  OpenWithHistory();
  Say({.progress_s = 70}, kStartMs - kSecondMs);
  Drain();
  Say({.progress_s = 9, .duration_s = 100, .device = "phone"}, kStartMs - 60 * kSecondMs);
  ExpectEverywhere("-1s 70/100 phone ");
}

TEST_F(HistoryWordsTest, OfOneTimeTheLargerNumberCountsAndFinishedAboveAll) {
  OpenWithHistory();
  const std::pair<int, int> pairs[] = {{63, 64}, {5, 3000}, {100, 5000}, {127, 128}, {10, -1}};
  for (const auto& [less, more] : pairs) {
    for (const bool drained : {false, true}) {
      for (const bool turned : {false, true}) {
        const std::string item = std::to_string(less) + (drained ? "d" : "s") + (turned ? "t" : "");
        Say({.progress_s = turned ? more : less}, kStartMs, item);
        if (drained) Drain();
        Say({.progress_s = turned ? less : more}, kStartMs, item);
        if (drained) Drain();
        EXPECT_EQ(Entry(item)->progress_s, more) << item;
      }
    }
  }
}

TEST_F(HistoryWordsTest, EmptyTextsSayNothing) {
  OpenWithHistory();
  Say({.device = "tv", .fields = R"({"a":1})"}, kStartMs - 2 * kSecondMs);
  Say({.progress_s = 1, .device = "", .fields = ""}, kStartMs - kSecondMs);
  ExpectEverywhere(R"(-1s 1/0 tv {"a":1})");
}

TEST_F(HistoryWordsTest, WordsAreTakenFromEarlierBuckets) {
  OpenWithHistory();
  Say({.duration_s = 3000, .device = "tv"}, kStartMs - 4 * kDayMs);
  Drain();
  Say({.progress_s = 10, .device = "phone"}, kStartMs - 2 * kDayMs);
  Drain();
  Say({.fields = "{}"}, kStartMs - kSecondMs);
  ExpectEverywhere("-1s 10/3000 phone {}");
}

// Staged together, the old words are within the newest row; apart, in rows of their own buckets.
TEST_F(HistoryWordsTest, WordsLeaveWithTheDaysThatAreKeptHoweverTheyWereDrained) {
  OpenWithHistory();
  for (const std::string item : {"together", "apart"}) {
    Say({.duration_s = 3000}, kStartMs - 4 * kDayMs, item);
    if (item == "apart") Drain();
    Say({.progress_s = 10}, kStartMs, item);
    Drain();
  }
  clock_.Advance(6 * kDayMs);
  for (const char* item : {"together", "apart"}) EXPECT_EQ(Entry(item)->duration_s, 3000) << item;
  clock_.Advance(kDayMs);
  for (const bool dropped : {false, true}) {
    if (dropped) RunDue();
    for (const char* item : {"together", "apart"}) {
      EXPECT_EQ(Entry(item)->duration_s, 0) << item;
      EXPECT_EQ(Entry(item)->progress_s, 10) << item;
    }
  }
}

TEST_F(HistoryWordsTest, ADeletionEndsWhatWasSaidUpToIt) {
  OpenWithHistory();
  Say({.progress_s = 10, .duration_s = 3000}, kStartMs - kDayMs);
  const IdRef items[] = {IdRef("v")};
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "video", items).ok());
  clock_.Advance(kHourMs);
  EXPECT_EQ(Text(Entry()), "nothing");
  Say({.device = "tv"}, clock_.NowMs());
  Say({.progress_s = 20, .duration_s = 3001}, kStartMs - kHourMs);  // late, and deleted
  ExpectEverywhere("3600s 0/0 tv ");
}

TEST_F(HistoryWordsTest, AClearEndsWhatWasSaidUpToItAndTakesItFromTheDisk) {
  OpenWithHistory();
  Say({.progress_s = 10, .duration_s = 3000, .device = "a device of old"}, kStartMs - kSecondMs);
  ASSERT_TRUE(engine_->ClearHistory(IdRef("u")).ok());
  clock_.Advance(kHourMs);
  Say({.progress_s = 20}, clock_.NowMs());
  ExpectEverywhere("3600s 20/0  ");
  ExpectOneRowOfPositionAlone();
}

// What comes while the rows go is merged into one of them.
TEST_F(HistoryWordsTest, WordsThatWereClearedLeaveRowsThatStay) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenWithHistory();
  Say({.progress_s = 10, .duration_s = 3000, .device = "a device of old"}, kStartMs - kSecondMs);
  Drain();
  Hold marked("clear: marked");
  auto cleared = std::async(std::launch::async, [&] { return engine_->ClearHistory(IdRef("u")); });
  ASSERT_TRUE(marked.WaitReached());
  clock_.Advance(kHourMs);
  Say({.progress_s = 20}, clock_.NowMs());
  Drain();
  marked.Release();
  ASSERT_TRUE(cleared.get().ok());
  EXPECT_EQ(Text(Entry()), "3600s 20/0  ");
  ExpectOneRowOfPositionAlone();
}

// An erasure beside a clear that has looked at the rows: the clear does not write them back.
TEST_F(HistoryWordsTest, AClearBringsNothingBackThatWasErased) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenWithHistory();
  Say({.progress_s = 10, .duration_s = 3000}, kStartMs - kSecondMs);
  Drain();
  Hold marked("clear: marked"), looked("clear: states looked at");
  auto cleared = std::async(std::launch::async, [&] { return engine_->ClearHistory(IdRef("u")); });
  ASSERT_TRUE(marked.WaitReached());
  clock_.Advance(kHourMs);
  Say({.progress_s = 20}, clock_.NowMs());
  Drain();
  marked.Release();
  ASSERT_TRUE(looked.WaitReached());
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  looked.Release();
  ASSERT_TRUE(cleared.get().ok());
  engine_.reset();
  EXPECT_TRUE(RawShard(Path()).All("history/video/2026-03-10").empty());
}

// Words that lie ahead of the clock, in a bucket where no row tells of them.
TEST_F(HistoryWordsTest, AnErasureTakesWordsThatLieAhead) {
  patch_.max_future_ms = 10 * kDayMs;
  OpenWithHistory();
  Say({.duration_s = 3000}, kStartMs + 2 * kDayMs);
  Say({.progress_s = 7}, kStartMs + 5 * kDayMs);
  Drain();
  PolicyPatch nearer;
  nearer.max_future_ms = kHourMs;
  Put("video", nearer);
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  EXPECT_EQ(Text(Entry()), "nothing");
  clock_.Advance(6 * kDayMs);
  Say({.progress_s = 8}, clock_.NowMs());
  EXPECT_EQ(Text(Entry()), std::to_string(6 * kDayMs / kSecondMs) + "s 8/0  ");
  engine_.reset();
  EXPECT_TRUE(RawShard(Path()).All("history/video/2026-03-12").empty());
}

// Reports of an offline player, staged together: the older one's words go into its own bucket, and
// leave with it and with the deletion that covers them.
TEST_F(HistoryWordsTest, WhatWasDeletedStaysAwayWhenMoreDaysAreKept) {
  OpenWithHistory();
  Say({.duration_s = 3000}, kStartMs - 2 * kDayMs);
  const IdRef items[] = {IdRef("v")};
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "video", items, kStartMs - kDayMs).ok());
  Say({.device = "tv"}, kStartMs);
  Drain();
  EXPECT_EQ(Text(Entry()), "0s 0/0 tv ");
  clock_.Advance(10 * kDayMs);
  RunDue();
  PolicyPatch more;
  more.history.days = 20;
  Put("video", more);
  ExpectEverywhere("0s 0/0 tv ");
}

TEST_F(HistoryWordsTest, IdsOnlyHidesWhatWasSaidBefore) {
  OpenWithHistory();
  Say({.progress_s = 10, .duration_s = 3000}, kStartMs - 2 * kDayMs);
  Drain();
  PolicyPatch ids_only;
  ids_only.history.ids_only = true;
  Put("video", ids_only);
  EXPECT_EQ(Text(Entry()), "-172800s 0/0  ");
  Say({.progress_s = 20}, kStartMs - kSecondMs);
  ExpectEverywhere("-1s 0/0  ");
}

// ---- What version 1 wrote ----

std::string Sealed(std::string value) {
  Seal32(&value);
  return value;
}

// An entry of version 1 on a phone. 0 is its way to say nothing.
std::string OfVersion1(int64_t at_ms, int32_t progress_s, int32_t duration_s) {
  std::string value("\x51\0", 2);
  PutZigzag(&value, at_ms);
  PutZigzag(&value, progress_s);
  PutVarint(&value, static_cast<uint64_t>(duration_s));
  value += std::string("\x05phone\0", 7);
  return Sealed(value);
}

TEST_F(HistoryWordsTest, EntriesOfVersion1FollowTheSameRules) {
  OpenWithHistory();
  Say({.progress_s = 1}, kStartMs - kDayMs);  // makes the families
  Drain();
  engine_.reset();
  const std::string key = HistoryKey("u", "v"), bucket = "history/video/2026-03-09";
  {
    RawShard shard(Path());
    shard.Put(bucket, key, OfVersion1(kStartMs - kDayMs, 1200, 3000));
    shard.Merge(bucket, key, OfVersion1(kStartMs - kDayMs + kSecondMs, 0, 0));
    shard.Put("timeline/video/2026-03-09", TimelineKey("u", kStartMs - kDayMs + kSecondMs, "v"),
              {});
  }
  Open();
  EXPECT_EQ(Text(Entry()), "-86399s 1200/3000 phone ");
  Say({.duration_s = 2999}, kStartMs - kDayMs + 2 * kSecondMs);
  Say({.progress_s = 5}, kStartMs - kDayMs);  // of one time with what version 1 wrote
  ExpectEverywhere("-86398s 1200/2999 phone ");
}

TEST_F(HistoryWordsTest, JournalRecordsOfVersion1AreReplayed) {
  OpenWithHistory();
  Say({.duration_s = 3000}, kStartMs - 2 * kSecondMs);
  engine_.reset();
  {
    RawShard shard(Path());
    std::string record("\x61\0\x05video", 8);
    PutZigzag(&record, kStartMs - kSecondMs);
    record += std::string("\x01\x01u\x01v\0\x14\0\x02tv\0", 12);  // 10 of 0 seconds on a tv
    const std::string family = shard.All("ring/0").empty() ? "ring/1" : "ring/0";
    std::string last;
    for (const auto& [sequence, value] : shard.All(family)) last = sequence;
    ASSERT_EQ(last.size(), 8u);
    ++last.back();
    shard.Put(family, last, Sealed(record));
  }
  Open();
  EXPECT_EQ(engine_->Stats().problems, std::vector<std::string>{});
  EXPECT_EQ(Text(Entry()), "-1s 10/3000 tv ");
}

// Its operator is another one: older software refuses the database from the first opening on.
TEST_F(HistoryWordsTest, AnOpeningForWritingRenewsTheIdentities) {
  OpenWithHistory();
  engine_.reset();
  const std::string file = Path() + "/SEENDB";
  const auto text = [&] {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  };
  const auto replace = [](std::string* in, const std::string& from, const std::string& to) {
    const size_t at = in->find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << *in;
    in->replace(at, from.size(), to);
  };
  const std::string today = text();
  std::string former = today;
  replace(&former, "\"format\": 2", "\"format\": 1");
  replace(&former, "seendb.history.v2", "seendb.history.v1");
  const std::string shard_today = RawShard(Path()).All("default")["identity"];
  std::string shard_former = shard_today;
  replace(&shard_former, "\"format\":2", "\"format\":1");
  for (const bool half_renewed : {false, true}) {
    const std::string& root = half_renewed ? today : former;
    std::ofstream(file) << root;
    RawShard(Path()).Put("default", "identity", shard_former);
    options_.read_only = true;
    Open();
    engine_.reset();
    EXPECT_EQ(text(), root) << "reading changes nothing";
    EXPECT_EQ(RawShard(Path()).All("default")["identity"], shard_former);
    options_.read_only = false;
    Open();
    engine_.reset();
    EXPECT_EQ(text(), today);
    EXPECT_EQ(RawShard(Path()).All("default")["identity"], shard_today);
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
