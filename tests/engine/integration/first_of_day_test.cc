// The first play of the day: told once a user, collection and day of the policy's time zone, by
// arrival; kept like the plays themselves, and forgotten with their user.

#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include "format/day_key.h"
#include "format/user_codec.h"
#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/poison.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using Indexes = std::vector<uint32_t>;

constexpr char kToday[] = "2026-03-10";  // until 16:00 UTC, where the clock says 12:00
constexpr char kTomorrow[] = "2026-03-11";

class FirstOfDayTest : public EngineTest {
 protected:
  // "video" tells, at +08:00; "default" does not.
  void Begin(Durability durability = Durability::kInterval) {
    Open();
    PolicyPatch patch;
    patch.first_of_day = true;
    patch.utc_offset_minutes = 8 * 60;
    patch.durability = durability;
    patch.history.enabled = true;
    patch.history.when_paused = WhenPaused::kFilterIgnores;
    Put("video", patch);
  }

  // One play of a new item.
  seendb::Play PlayOf(const std::string& user, const std::string& day = "",
                      std::optional<int64_t> at_ms = {}) {
    texts_.push_back(user);
    const IdRef who(texts_.back());
    texts_.push_back(day);
    return {who, IdRef(++items_), at_ms, nullptr, texts_.back()};
  }
  Result<RecordResult> Record(const std::vector<seendb::Play>& plays,
                              const std::string& collection = "video") {
    return engine_->RecordPlays(plays, {.collection = collection});
  }
  Indexes FirstsOf(const std::vector<seendb::Play>& plays, const std::string& day = kToday,
                   const std::string& collection = "video") {
    const auto recorded = Record(plays, collection);
    EXPECT_TRUE(recorded.ok()) << recorded.status().ToString();
    if (!recorded.ok()) return {};
    EXPECT_EQ(recorded->day, day);
    return recorded->first_today;
  }
  bool IsFirst(const std::string& user, const std::string& day = kToday,
               const std::string& collection = "video") {
    return FirstsOf({PlayOf(user)}, day, collection) == Indexes{0};
  }
  // Of days stored, "shard key value".
  Items Stored() {
    Items rows;
    const Status scanned = engine_->Scan("users", [&](const ScanRow& row) {
      rows.push_back(row.key + " " + row.value);
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return rows;
  }

  std::deque<std::string> texts_;
  uint64_t items_ = 0;
};

TEST_F(FirstOfDayTest, IsToldOnceAUser) {
  Begin();
  EXPECT_EQ(FirstsOf({PlayOf("u1"), PlayOf("u2"), PlayOf("u1"), PlayOf("u3"), PlayOf("u2")}),
            (Indexes{0, 1, 3}));
  EXPECT_EQ(FirstsOf({PlayOf("u3"), PlayOf("u4"), PlayOf("u1")}), Indexes{1});
  EXPECT_EQ(FirstsOf({PlayOf("u1")}), Indexes{});
  EXPECT_EQ(FirstsOf({}), Indexes{}) << "the day is told all the same";
  EXPECT_TRUE(IsFirst("17"));
  EXPECT_EQ(FirstsOf({{IdRef(17), IdRef(1)}}), Indexes{}) << "an id of digits is a number's";
}

TEST_F(FirstOfDayTest, TheDayIsThatOfThePolicysTimeZone) {
  Begin();
  EXPECT_TRUE(IsFirst("u1"));
  clock_.Advance(4 * kHourMs - 1);
  EXPECT_FALSE(IsFirst("u1"));
  EXPECT_TRUE(IsFirst("u2"));
  clock_.Advance(1);
  EXPECT_TRUE(IsFirst("u1", kTomorrow));
  EXPECT_FALSE(IsFirst("u1", kTomorrow));
  EXPECT_TRUE(IsFirst("u2", kTomorrow));
  clock_.Advance(365 * kDayMs);
  EXPECT_TRUE(IsFirst("u2", "2027-03-11"));
}

// A clock that was set back tells nothing anew.
TEST_F(FirstOfDayTest, ADayThatIsOverDoesNotComeAgain) {
  Begin();
  EXPECT_TRUE(IsFirst("u1"));
  clock_.Advance(kDayMs);
  EXPECT_TRUE(IsFirst("u1", kTomorrow));
  clock_.Advance(-kDayMs);
  EXPECT_FALSE(IsFirst("u1"));
  Reopen();
  EXPECT_FALSE(IsFirst("u1"));
}

TEST_F(FirstOfDayTest, ArrivalCountsNotTheTimeOfThePlay) {
  Begin();
  EXPECT_EQ(FirstsOf({PlayOf("u1", "", kStartMs - 2 * kDayMs)}), Indexes{0});
  EXPECT_EQ(FirstsOf({PlayOf("u1"), PlayOf("u1", "", kStartMs + 6 * kHourMs)}), Indexes{});
  EXPECT_EQ(FirstsOf({PlayOf("u2", "", kStartMs + 6 * kHourMs)}), Indexes{0});
  clock_.Advance(6 * kHourMs);
  EXPECT_EQ(FirstsOf({PlayOf("u2", "", kStartMs)}, kTomorrow), Indexes{0});
}

TEST_F(FirstOfDayTest, AClientThatKnowsOfTodayIsNotLookedUp) {
  Begin();
  EXPECT_EQ(FirstsOf({PlayOf("u1", kToday), PlayOf("u1", kToday)}), Indexes{});
  EXPECT_EQ(Stored(), Items{});
  EXPECT_EQ(FirstsOf({PlayOf("u1", kToday), PlayOf("u1", "2026-03-09"), PlayOf("u1")}), Indexes{1});
  EXPECT_EQ(FirstsOf({PlayOf("u1", "2026-03-09")}), Indexes{});
  EXPECT_EQ(FirstsOf({PlayOf("u2", kTomorrow)}), Indexes{0}) << "a client ahead of the policy";
}

TEST_F(FirstOfDayTest, WhatIsNoDayIsRefusedByName) {
  Begin();
  for (const char* day : {"2026-02-29", "2026-3-10", "today", "2026-03-10T", "20260310"}) {
    const auto recorded = Record({PlayOf("u1"), PlayOf("u1", day)});
    EXPECT_EQ(recorded.status().code(), StatusCode::kInvalidArgument) << day;
    EXPECT_EQ(recorded.status().field(), "/1/day") << day;
  }
  EXPECT_TRUE(IsFirst("u1")) << "nothing was recorded";
  EXPECT_TRUE(Record({PlayOf("u1", "today")}, "default").ok()) << "the policy does not look";
}

TEST_F(FirstOfDayTest, WhatIsRefusedDoesNotCount) {
  Begin();
  EXPECT_EQ(FirstsOf({PlayOf("u1", "", kStartMs - 400 * kDayMs), PlayOf("u1")}), Indexes{1});
  EXPECT_EQ(FirstsOf({PlayOf("u2", "", kStartMs + 400 * kDayMs)}), Indexes{});
  EXPECT_TRUE(IsFirst("u2"));
  ASSERT_TRUE(engine_->EraseUser(IdRef("u3"), {.always = true}).ok());
  EXPECT_EQ(FirstsOf({PlayOf("u3", "", kStartMs), PlayOf("u3", "", kStartMs + 1)}), Indexes{1});
}

TEST_F(FirstOfDayTest, WhatAPauseKeepsOutOfEverythingLeavesNoTrace) {
  Begin();
  ASSERT_TRUE(engine_->SetRecording(IdRef("u1"), true).ok());
  const size_t before = Stored().size();
  EXPECT_FALSE(IsFirst("u1"));
  EXPECT_EQ(Stored().size(), before);
  PolicyPatch learns;
  learns.history.when_paused = WhenPaused::kFilterLearns;
  Put("video", learns);
  EXPECT_TRUE(IsFirst("u1"));
}

TEST_F(FirstOfDayTest, ImpressionsAreNoPlays) {
  Begin();
  PolicyPatch patch;
  patch.first_of_day = true;
  patch.served_is_seen = true;
  Put("served", patch);
  const std::vector<Impression> shown = {{IdRef("u1"), IdRef("v1")}};
  const auto recorded = engine_->RecordImpressions(shown, {.collection = "served"});
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(recorded->day, "");
  EXPECT_EQ(recorded->first_today, Indexes{});
  EXPECT_TRUE(IsFirst("u1", kToday, "served"));
}

TEST_F(FirstOfDayTest, CollectionsCountApartAndOthersKeepNothing) {
  Begin();
  PolicyPatch patch;
  patch.first_of_day = true;
  Put("comic", patch);
  EXPECT_EQ(FirstsOf({PlayOf("u1")}, "", "default"), Indexes{});
  EXPECT_EQ(Stored(), Items{});
  EXPECT_TRUE(IsFirst("u1"));
  EXPECT_TRUE(IsFirst("u1", kToday, "comic"));
  EXPECT_EQ(Stored(), (Items{"\\xffu1 comic last_active_day=2026-03-10",
                             "\\xffu1 video last_active_day=2026-03-10"}));
  const auto report = engine_->Inspect(IdRef("u1"));
  ASSERT_TRUE(report.ok());
  using Days = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(report->last_active_days, (Days{{"comic", kToday}, {"video", kToday}}));
  EXPECT_NE(ReportToJson(*report).find(
                R"("last_active_day":{"comic":"2026-03-10","video":"2026-03-10"})"),
            std::string::npos);
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 0u);
  patch.first_of_day = false;
  Put("comic", patch);
  EXPECT_EQ(FirstsOf({PlayOf("u9")}, "", "comic"), Indexes{});
}

TEST_F(FirstOfDayTest, IsKeptThroughDrainsAndOpenings) {
  Begin();
  EXPECT_TRUE(IsFirst("u1"));
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_FALSE(IsFirst("u1"));
  Reopen();
  EXPECT_FALSE(IsFirst("u1"));
  EXPECT_TRUE(IsFirst("u2"));
}

TEST_F(FirstOfDayTest, ErasureForgetsIt) {
  Begin();
  PolicyPatch patch;
  patch.first_of_day = true;
  Put("comic", patch);
  for (const char* user : {"u", "u1", "u12"}) {
    EXPECT_TRUE(IsFirst(user));
    EXPECT_TRUE(IsFirst(user, kToday, "comic"));
  }
  ASSERT_TRUE(engine_->EraseUser(IdRef("u1")).ok());
  clock_.Advance(1);
  for (const char* collection : {"video", "comic"}) {
    EXPECT_TRUE(IsFirst("u1", kToday, collection));
    EXPECT_FALSE(IsFirst("u1", kToday, collection));
    EXPECT_FALSE(IsFirst("u", kToday, collection));
    EXPECT_FALSE(IsFirst("u12", kToday, collection));
  }
  ASSERT_TRUE(engine_->EraseUser(IdRef("u1")).ok());
  Reopen();
  for (const std::string& row : Stored()) EXPECT_FALSE(row.starts_with("\\xffu1 ")) << row;
  clock_.Advance(1);
  EXPECT_TRUE(IsFirst("u1"));
}

// Two pieces, one call.
TEST_F(FirstOfDayTest, AVeryLargeCallNamesEachUserOnce) {
  Begin();
  std::vector<seendb::Play> plays;
  const std::string users[] = {"a", "b", "c"};
  for (uint64_t i = 0; i < 70'000; ++i) {
    plays.push_back({IdRef(i < 69'000 ? users[i % 2] : users[2]), IdRef(i)});
  }
  EXPECT_EQ(FirstsOf(plays), (Indexes{0, 1, 69'000}));
}

TEST_F(FirstOfDayTest, SurvivesAPowerCutAsThePlaysDo) {
  MemDisk disk;
  env_ = disk.env();
  Begin(Durability::kSync);
  EXPECT_TRUE(IsFirst("u1"));
  disk.Crash();
  engine_.reset();
  disk.PowerCut(1);
  disk.Revive();
  Open();
  EXPECT_FALSE(IsFirst("u1"));
  EXPECT_TRUE(IsFirst("u2"));
  engine_.reset();
}

// The failed write may be on disk all the same, as that of the other shard is: who is refused was
// told nothing.
TEST_F(FirstOfDayTest, ACallThatFailsTellsNothing) {
  MemDisk disk;
  env_ = disk.env();
  Begin(Durability::kSync);
  std::string users[2];  // one a shard
  for (int i = 0; users[0].empty() || users[1].empty(); ++i) {
    const std::string user = "u" + std::to_string(i);
    users[engine_->ShardOf(IdRef(user))] = user;
  }
  disk.Fail(MemDisk::kSync, "shard-0001*.log", rocksdb::IOStatus::IOError("injected"));
  EXPECT_EQ(Record({PlayOf(users[0]), PlayOf(users[1])}).status().code(), StatusCode::kIOError);
  disk.Clear();
  const auto again = [&] { return Record({PlayOf(users[0]), PlayOf(users[1])}); };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  Result<RecordResult> recorded = again();
  while (!recorded.ok() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    (void)engine_->RunDue();
    recorded = again();
  }
  ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
  EXPECT_EQ(recorded->first_today, (Indexes{0, 1}));
  EXPECT_EQ(FirstsOf({PlayOf(users[0]), PlayOf(users[1])}), Indexes{});
  engine_.reset();
}

TEST_F(FirstOfDayTest, ADamagedDayTellsAgainAndKeepsNobodyOut) {
  options_.shards = 1;
  Begin();
  EXPECT_TRUE(IsFirst("damaged"));
  EXPECT_TRUE(IsFirst("newer"));
  EXPECT_TRUE(IsFirst("sound"));
  engine_.reset();
  UserRecord record;
  record.last_day = 1;
  std::string encoded;
  record.Encode(&encoded);
  {
    RawShard shard(Path());
    shard.Put("users", DayKey("damaged", "video"), "noise");
    shard.Merge("users", DayKey("newer", "video"), Newer(encoded));
  }
  Open();
  EXPECT_TRUE(IsFirst("damaged"));
  EXPECT_FALSE(IsFirst("damaged"));
  EXPECT_FALSE(IsFirst("newer")) << "what is known counts";
  EXPECT_FALSE(IsFirst("sound"));
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 1u);
  EXPECT_EQ(verified->newer, 1u);
  Reopen();
  EXPECT_FALSE(IsFirst("damaged")) << "merged, beside the damage";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
