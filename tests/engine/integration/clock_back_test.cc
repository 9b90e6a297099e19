// A clock that runs ahead, and is set right again: what was dropped or left out as expired
// meanwhile is remembered, so that `verify` refutes no true play and the filter calls no seen item
// unseen without saying `degraded`.

#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "seendb/repair.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ClockBackTest : public EngineTest {
 protected:
  ClockBackTest() {
    options_.shards = 1;
    options_.list_limit = 16;  // so that `verify` has filters to doubt
  }

  // A bucket a day; history of one day, or of some, filters of six.
  void StartWatched(uint32_t history_days = 1) {
    if (engine_ == nullptr) Open();
    PolicyPatch policy;
    policy.bucket = BucketSpec{BucketKind::kDays, 1};
    policy.window = 5;
    policy.retention = 6;
    policy.history.enabled = true;
    policy.history.days = history_days;
    Put("c", policy);
  }
  // Buckets of ten days, all that are kept are in the window.
  void StartNarrow() {
    Open();
    PolicyPatch policy;
    policy.bucket = BucketSpec{BucketKind::kDays, 10};
    policy.window = policy.retention = 4;
    Put("c", policy);
  }
  void PlayAll() {
    for (const std::string& item : kItems) ASSERT_EQ(Play("u", {item}, std::nullopt, "c"), 1u);
  }
  void Drop() {
    const Status dropped = engine_->DropExpired();
    ASSERT_TRUE(dropped.ok()) << dropped.ToString();
  }
  // How many of kItems are unseen, with `verify`.
  size_t AskVerified() {
    const std::vector<IdRef> ids(kItems.begin(), kItems.end());
    FilterRequest request;
    request.collection = "c";
    request.user = IdRef("u");
    request.items = ids;
    request.verify = true;
    const Status asked = engine_->Filter(request, &answer_);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    return answer_.unseen.size();
  }
  void ExpectNoneRefuted() {
    EXPECT_EQ(AskVerified(), 0u);
    EXPECT_EQ(answer_.refuted, 0u);
    EXPECT_FALSE(answer_.degraded);
  }
  std::string LabelOf(int64_t days) {
    return BucketLabel(Narrow(), BucketIndexOf(Narrow(), kStartMs + days * kDayMs));
  }
  static Policy Narrow() {
    Policy policy;
    policy.bucket = BucketSpec{BucketKind::kDays, 10};
    return policy;
  }
  void ExpectMissing(const Items& labels) {
    Unseen("u", {"v1"}, "c");
    EXPECT_EQ(answer_.degraded, !labels.empty());
    EXPECT_EQ(answer_.missing, labels);
  }

  const Items kItems = Numbered("v", 300);
};

// ---- History that was dropped ----

TEST_F(ClockBackTest, VerifyTrustsNoBucketWhoseHistoryWasDropped) {
  StartWatched();
  PlayAll();
  Drain();
  clock_.Advance(kDayMs);
  ExpectNoneRefuted();
  clock_.Advance(13 * kHourMs);
  Drop();
  clock_.Advance(-13 * kHourMs);
  ExpectNoneRefuted();
  Reopen();
  ExpectNoneRefuted();
}

TEST_F(ClockBackTest, NorOneThatADrainLeftOut) {
  StartWatched();
  PlayAll();
  clock_.Advance(3 * kDayMs);
  Drain();
  clock_.Advance(-3 * kDayMs);
  ExpectNoneRefuted();
  Reopen();
  ExpectNoneRefuted();
}

TEST_F(ClockBackTest, TheNextBucketIsTrusted) {
  StartWatched();
  PlayAll();
  Drain();
  clock_.Advance(kDayMs);
  PlayAll();
  Drain();
  clock_.Advance(13 * kHourMs);
  Drop();
  engine_.reset();
  EXPECT_EQ(RawShard(Path()).All("default")["unwatched/c"],
            std::to_string(kStartMs + 12 * kHourMs - 1));
}

TEST_F(ClockBackTest, AChangeOfPolicyForgetsNoDrop) {
  StartWatched();
  PlayAll();
  Drain();
  clock_.Advance(37 * kHourMs);
  Drop();
  clock_.Advance(-13 * kHourMs);
  PolicyPatch policy;
  policy.history.max_entries = 5'000;
  Put("c", policy);
  ExpectNoneRefuted();
  Reopen();
  ExpectNoneRefuted();
}

// The software of before dropped, and raised nothing.
TEST_F(ClockBackTest, ADatabaseOfBeforeTrustsOnlyWhatIsThere) {
  StartWatched();
  PlayAll();
  Drain();
  clock_.Advance(37 * kHourMs);
  Drop();
  engine_.reset();
  {
    RawShard shard(Path());
    shard.Put("default", "unwatched/c", std::to_string(INT64_MIN));
    const rocksdb::Status gone = shard.db()->Delete({}, shard.family("default"), "clock");
    ASSERT_TRUE(gone.ok()) << gone.ToString();
  }
  clock_.Advance(-13 * kHourMs);
  Open();
  ExpectNoneRefuted();
  Reopen();
  ExpectNoneRefuted();
}

// ... or it ran in between: then the epoch went on without the note beside it.
TEST_F(ClockBackTest, NeitherDoesOneThatOlderSoftwareOpened) {
  StartWatched();
  PlayAll();
  Drain();
  clock_.Advance(37 * kHourMs);
  Drop();
  engine_.reset();
  {
    RawShard shard(Path());
    shard.Put("default", "unwatched/c", std::to_string(INT64_MIN));
    shard.Put("default", "ring", "{\"epoch\":100}");
  }
  clock_.Advance(-13 * kHourMs);
  Open();
  ExpectNoneRefuted();
}

// Plays of a pause are in the filters alone; the clock is set back, and the pause ends before them.
TEST_F(ClockBackTest, APauseReachesToThePlaysThatCameInIt) {
  for (const bool drained_before : {true, false}) {
    StartWatched(6);
    ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
    clock_.Advance(3 * kDayMs);
    PlayAll();
    if (drained_before) Drain();
    clock_.Advance(-3 * kDayMs);
    ASSERT_TRUE(engine_->SetRecording(IdRef("u"), false).ok());
    if (!drained_before) Drain();
    ExpectNoneRefuted();
    clock_.Advance(3 * kDayMs);
    ExpectNoneRefuted();
    Reopen();
    ExpectNoneRefuted();
    clock_.Advance(-3 * kDayMs);
    ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
    clock_.Advance(8 * kDayMs);
  }
}

// The pause itself ends at once: what is played from then on enters history.
TEST_F(ClockBackTest, RecordingGoesOnAtOnceAfterAPause) {
  StartWatched(6);
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  clock_.Advance(3 * kDayMs);
  PlayAll();
  clock_.Advance(-3 * kDayMs);
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), false).ok());
  const Result<Recording> recording = engine_->GetRecording(IdRef("u"));
  ASSERT_TRUE(recording.ok());
  EXPECT_FALSE(recording->paused);
  EXPECT_EQ(recording->since_ms, clock_.NowMs());
  ASSERT_EQ(Play("u", {"resumed"}, std::nullopt, "c"), 1u);
  const IdRef item("resumed");
  HistoryLookup found;
  ASSERT_TRUE(engine_->LookupHistory(IdRef("u"), "c", {&item, 1}, &found).ok());
  EXPECT_TRUE(found.entries[0].has_value());
}

// History is switched on by a clock that is behind plays of before.
TEST_F(ClockBackTest, HistorySwitchedOnLacksThePlaysAheadOfTheClock) {
  StartWatched(6);
  PolicyPatch policy;
  policy.history.enabled = false;
  Put("c", policy);
  for (const bool drained_before : {true, false}) {
    clock_.Advance(3 * kDayMs);
    PlayAll();
    if (drained_before) Drain();
    clock_.Advance(-3 * kDayMs);
    policy.history.enabled = true;
    Put("c", policy);
    if (!drained_before) Drain();
    ExpectNoneRefuted();
    clock_.Advance(3 * kDayMs);
    ExpectNoneRefuted();
    Reopen();
    ExpectNoneRefuted();
    policy.history.enabled = false;
    Put("c", policy);
  }
}

// A pause that a clock ahead took for older than retention, and forgot.
TEST_F(ClockBackTest, AForgottenPauseIsNoneThatNeverWas) {
  StartWatched();
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  clock_.Advance(kHourMs);
  PlayAll();
  clock_.Advance(kHourMs);
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), false).ok());
  Drain();
  ExpectNoneRefuted();
  clock_.Advance(300 * kDayMs);
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), false).ok());
  clock_.Advance(-300 * kDayMs);
  ExpectNoneRefuted();
}

// ---- Filters that were dropped ----

TEST_F(ClockBackTest, ADroppedBucketOfTheWindowIsMissing) {
  StartNarrow();
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  Drain();
  clock_.Advance(35 * kDayMs);
  EXPECT_EQ(Unseen("u", {"v1"}, "c"), Items{});
  clock_.Advance(10 * kDayMs);
  RunDue();
  Drop();
  ExpectMissing({});
  clock_.Advance(-10 * kDayMs);
  ExpectMissing({LabelOf(0)});
  Reopen();
  EXPECT_EQ(Unseen("u", {"v1"}, "c"), Items{"v1"});
  ExpectMissing({LabelOf(0)});
  const Result<VerifyReport> verified = engine_->Verify();
  ASSERT_TRUE(verified.ok()) << verified.status().ToString();
  EXPECT_EQ(verified->damaged, 0u);
  // Late plays make the bucket anew, with nothing of before.
  EXPECT_EQ(Play("u", {"v2"}, kStartMs, "c"), 1u);
  Drain();
  ExpectMissing({LabelOf(0)});
  clock_.Advance(10 * kDayMs);
  ExpectMissing({});
}

TEST_F(ClockBackTest, OfSeveralTheNewestIsNamed) {
  StartNarrow();
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  clock_.Advance(10 * kDayMs);
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  Drain();
  clock_.Advance(60 * kDayMs);
  Drop();
  clock_.Advance(-50 * kDayMs);
  ExpectMissing({LabelOf(10)});
}

TEST_F(ClockBackTest, PlaysThatADrainLeftOutAreMissing) {
  StartNarrow();
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  clock_.Advance(60 * kDayMs);
  options_.short_term_bytes = 0;
  Drain();
  clock_.Advance(-60 * kDayMs);
  Reopen();
  ExpectMissing({LabelOf(0)});
}

TEST_F(ClockBackTest, WhatExpiresInTimeIsNot) {
  StartNarrow();
  for (int day = 0; day < 100; day += 5) {
    EXPECT_EQ(Play("u", {"other"}, std::nullopt, "c"), 1u);
    RunDue();
    Drop();
    ExpectMissing({});
    clock_.Advance(5 * kDayMs);
  }
}

TEST_F(ClockBackTest, ARepairKeepsWhatWasDropped) {
  StartNarrow();
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  Drain();
  clock_.Advance(45 * kDayMs);
  Drop();
  clock_.Advance(-10 * kDayMs);
  engine_.reset();
  std::filesystem::remove(Path() + "/shard-0000/CURRENT");
  Seams seams;
  seams.clock = &clock_;
  const Result<RepairReport> repaired = Repair(Path(), {}, seams);
  ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
  Open();
  ExpectMissing({LabelOf(0)});
}

TEST_F(ClockBackTest, AnUnreadableMarkerCountsForAllThatIsPast) {
  StartNarrow();
  engine_.reset();
  RawShard(Path()).Put("default", "dropped/c", "{}");
  Open();
  Unseen("u", {"v1"}, "c");
  EXPECT_TRUE(answer_.degraded);
}

// ---- Check and record ----

// Whatever the clock does, no page is served again while the newest impressions remember it.
class ServedBackTest : public EngineTest {
 protected:
  Items ServePage(const Items& from, uint32_t limit, uint8_t facts = kFactsAll) {
    const std::vector<IdRef> ids(from.begin(), from.end());
    FilterRequest request;
    request.collection = "c";
    request.user = IdRef("u");
    request.items = ids;
    request.limit = limit;
    request.record = true;
    request.facts = facts;
    EXPECT_TRUE(engine_->Filter(request, &answer_).ok());
    EXPECT_TRUE(answer_.recorded);
    EXPECT_FALSE(answer_.degraded);
    Items served;
    for (const uint32_t at : answer_.unseen) served.push_back(from[at]);
    return served;
  }
};

TEST_F(ServedBackTest, NoPageIsServedTwice) {
  for (const int64_t back_ms : {int64_t{1}, int64_t{300'000}, 2 * kDayMs}) {
    for (const int64_t max_future_ms : {int64_t{0}, 24 * kHourMs}) {
      SCOPED_TRACE(std::to_string(back_ms) + " ms back");
      Open();
      PolicyPatch patch;
      patch.impressions = 100;
      patch.max_future_ms = max_future_ms;
      Put("c", patch);
      clock_.Set(kStartMs + back_ms);
      EXPECT_EQ(ServePage(Numbered("a", 100), 100).size(), 100U);
      clock_.Set(kStartMs);
      const Items pool = Numbered("b", 60);
      std::set<std::string> served;
      for (int page = 0; page < 6; ++page) {
        for (const std::string& item : ServePage(pool, 10)) {
          EXPECT_TRUE(served.insert(item).second) << item << " on page " << page;
        }
        EXPECT_EQ(answer_.recorded_at_ms, kStartMs + back_ms);
        clock_.Advance(back_ms / 20);
        if (page == 3) Reopen();
      }
      clock_.Set(kStartMs + back_ms + 1'000);
      ServePage({"z"}, 1);
      EXPECT_EQ(answer_.recorded_at_ms, kStartMs + back_ms + 1'000);
      engine_.reset();
      std::filesystem::remove_all(Path());
    }
  }
}

// Of a user whose erasure, or whose deletion of an item, was said by a clock ahead.
TEST_F(ServedBackTest, NorAfterAnErasureOrADeletionByAClockAhead) {
  Open();
  PolicyPatch patch;
  patch.impressions = 100;
  patch.history.enabled = true;
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  Put("c", patch);
  Play("u", {"b0"}, std::nullopt, "c");
  clock_.Set(kStartMs + kHourMs);
  const IdRef deleted("b0");
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "c", {&deleted, 1}).ok());
  clock_.Set(kStartMs + 1'000);
  EXPECT_EQ(ServePage(Numbered("b", 4), 2), (Items{"b0", "b1"}));
  EXPECT_EQ(ServePage(Numbered("b", 4), 2), (Items{"b2", "b3"}));
  clock_.Set(kStartMs + 2 * kHourMs);
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  clock_.Set(kStartMs + 2'000);
  EXPECT_EQ(ServePage(Numbered("b", 4), 2), (Items{"b0", "b1"}));
  EXPECT_EQ(ServePage(Numbered("b", 4), 2), (Items{"b2", "b3"}));
  EXPECT_TRUE(ServePage(Numbered("b", 4), 2).empty());
}

// A request that asks for plays alone is recorded in the same order.
TEST_F(ServedBackTest, WhereImpressionsDoNotCountToo) {
  Open();
  PolicyPatch patch;
  patch.impressions = 10;
  Put("c", patch);
  clock_.Set(kStartMs + kHourMs);
  ServePage(Numbered("a", 10), 10);
  clock_.Set(kStartMs);
  EXPECT_EQ(ServePage(Numbered("b", 10), 10, kFactPlays).size(), 10U);
  EXPECT_EQ(Unseen("u", Numbered("b", 11), "c"), Items{"b10"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
