// A machine's clock that jumped ahead is in doubt: nothing is dropped, evicted or refused as too
// old for it, and answers say so.

#include "support/machine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ClockDoubtTest : public MachineTest {
 protected:
  static constexpr int64_t kJumpMs = 45 * kDayMs;

  // Buckets of ten days, all that are kept are in the window; history as long.
  void Start() {
    OpenByMachine();
    PolicyPatch policy;
    policy.bucket = BucketSpec{BucketKind::kDays, 10};
    policy.window = policy.retention = 4;
    policy.history.enabled = true;
    policy.history.days = 30;
    Put("c", policy);
  }
  void PlayOne() { EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u); }
  bool InDoubt() { return engine_->Stats().clock_in_doubt; }
  void ExpectSeen() {
    EXPECT_EQ(Unseen("u", {"v1"}, "c"), Items{});
    EXPECT_FALSE(answer_.degraded);
    HistoryLookup found;
    const IdRef item("v1");
    ASSERT_TRUE(engine_->LookupHistory(IdRef("u"), "c", {&item, 1}, &found).ok());
    EXPECT_FALSE(found.degraded);
    EXPECT_TRUE(found.entries.at(0).has_value());
  }
  // By the engine's own word for the family `default`.
  std::string Noted() {
    std::string noted;
    const Status scanned = engine_->Scan("default", [&](const ScanRow& row) {
      if (row.key == "clock") noted = row.value;
      return true;
    });
    EXPECT_TRUE(scanned.ok()) << scanned.ToString();
    return noted;
  }
  static std::string Says(int64_t ms) { return "\"noted_ms\":" + std::to_string(ms); }
};

TEST_F(ClockDoubtTest, NothingIsDropped) {
  Start();
  PlayOne();
  ASSERT_TRUE(engine_->Drain().ok());
  machine_.Step(kJumpMs);
  EXPECT_TRUE(InDoubt());
  EXPECT_EQ(engine_->DropExpired().code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->SealClosed().code(), StatusCode::kUnavailable);
  RunDue();
  EXPECT_EQ(engine_->Buckets().size(), 2u) << "one of each collection";
  EXPECT_EQ(Unseen("u", {"v1"}, "c"), Items{"v1"});
  EXPECT_TRUE(answer_.degraded);
  EXPECT_EQ(answer_.missing, Items{"clock"});
  machine_.Step(-kJumpMs);
  EXPECT_FALSE(InDoubt());
  ExpectSeen();
}

TEST_F(ClockDoubtTest, StatisticsTell) {
  Start();
  EXPECT_TRUE(engine_->Stats().problems.empty());
  machine_.Step(kJumpMs);
  const EngineStats stats = engine_->Stats();
  EXPECT_TRUE(stats.degraded);
  ASSERT_EQ(stats.problems.size(), 1u);
  EXPECT_EQ(stats.problems[0].find("the clock is in doubt"), 0u) << stats.problems[0];
  EXPECT_NE(ReportToJson(stats).find("\"clock_in_doubt\":true"), std::string::npos);
  const Result<int64_t> confirmed = engine_->ConfirmClock();
  ASSERT_TRUE(confirmed.ok()) << confirmed.status().ToString();
  EXPECT_EQ(*confirmed, machine_.NowMs());
  EXPECT_TRUE(engine_->Stats().problems.empty());
}

TEST_F(ClockDoubtTest, TimeThatPassesIsBelieved) {
  Start();
  PlayOne();
  ASSERT_TRUE(engine_->Drain().ok());
  machine_.Pass(kJumpMs);
  machine_.Step(kHourMs);
  EXPECT_FALSE(InDoubt());
  EXPECT_TRUE(engine_->DropExpired().ok());
  EXPECT_EQ(engine_->Stats().buckets_dropped, 1u);
}

TEST_F(ClockDoubtTest, WhatIsConfirmedExpires) {
  Start();
  PlayOne();
  ASSERT_TRUE(engine_->Drain().ok());
  machine_.Step(kJumpMs);
  ASSERT_TRUE(engine_->ConfirmClock().ok());
  EXPECT_TRUE(engine_->DropExpired().ok());
  EXPECT_EQ(engine_->Stats().buckets_dropped, 1u);
  EXPECT_NE(Noted().find(Says(machine_.NowMs())), std::string::npos) << Noted();
  OpenByMachine();
  EXPECT_FALSE(InDoubt());
}

TEST_F(ClockDoubtTest, ADrainLeavesNothingOut) {
  Start();
  PlayOne();
  machine_.Step(400 * kDayMs);
  ASSERT_TRUE(engine_->Drain().ok());
  EXPECT_EQ(engine_->Stats().drained_plays, 1u);
  machine_.Step(-400 * kDayMs);
  ExpectSeen();
}

TEST_F(ClockDoubtTest, NoEventIsTooOld) {
  Start();
  machine_.Step(kJumpMs);
  const auto play = [&](std::optional<int64_t> at_ms, size_t count) {
    std::vector<seendb::Play> plays(count, {IdRef("u"), IdRef("now"), std::nullopt});
    plays.push_back({IdRef("u"), IdRef("v1"), at_ms});
    return engine_->RecordPlays(plays, {.collection = "c"});
  };
  EXPECT_EQ(play(kStartMs, 0).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(play(kStartMs, 70'000).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(engine_->Stats().plays_accepted, 0u);
  EXPECT_EQ(Unseen("u", {"now"}, "c"), Items{"now"}) << "no piece of it was recorded";
  const Impression served{IdRef("u"), IdRef("v1"), kStartMs};
  const auto shown = engine_->RecordImpressions({&served, 1}, {.collection = "c"});
  EXPECT_EQ(shown.status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(play(std::nullopt, 0).ok());
  machine_.Step(-kJumpMs);
  EXPECT_TRUE(play(kStartMs, 0).ok());
}

TEST_F(ClockDoubtTest, NorOneOfALog) {
  Start();
  machine_.Step(kJumpMs);
  const seendb::Play play{IdRef("u"), IdRef("v1"), kStartMs};
  const Origin origin{0, 0};
  SourceStep step;
  step.topic = "t";
  step.next_offset = 1;
  IngestBatch batch;
  batch.collection = "c";
  batch.plays = {&play, 1};
  batch.origins = {&origin, 1};
  batch.sources = {&step, 1};
  EXPECT_EQ(engine_->Ingest(batch).status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(engine_->Sources().empty());
  machine_.Step(-kJumpMs);
  const Result<IngestResult> taken = engine_->Ingest(batch);
  ASSERT_TRUE(taken.ok()) << taken.status().ToString();
  EXPECT_EQ(taken->accepted, 1u);
  ExpectSeen();
}

TEST_F(ClockDoubtTest, NothingIsEvicted) {
  options_.maintenance_begin_minute = options_.maintenance_end_minute = 0;
  Start();
  PolicyPatch policy;
  policy.history.max_entries = 1;
  Put("c", policy);
  PlayOne();
  machine_.Pass(1'000);
  EXPECT_EQ(Play("u", {"v2"}, std::nullopt, "c"), 1u);
  ASSERT_TRUE(engine_->Drain().ok());
  machine_.Step(2 * kHourMs);
  RunDue();
  EXPECT_EQ(engine_->Stats().history_evicted, 0u);
  machine_.Step(-2 * kHourMs);
  RunDue();
  EXPECT_EQ(engine_->Stats().history_evicted, 1u);
}

TEST_F(ClockDoubtTest, HistoryTells) {
  Start();
  PlayOne();
  machine_.Step(kJumpMs);
  HistoryPage page;
  HistoryRequest request;
  request.user = IdRef("u");
  ASSERT_TRUE(engine_->ReadHistory(request, &page).ok());
  EXPECT_EQ(page.missing, Items{"clock"});
  HistoryLookup found;
  const IdRef item("v1");
  ASSERT_TRUE(engine_->LookupHistory(IdRef("u"), "c", {&item, 1}, &found).ok());
  EXPECT_EQ(found.missing, Items{"clock"});
}

// ---- From one opening to the next ----

TEST_F(ClockDoubtTest, AnOpeningMayLieThreeDaysBehind) {
  Start();
  machine_.Pass(3 * kDayMs);
  engine_.reset();
  machine_.Step(3 * kDayMs);
  OpenByMachine();
  EXPECT_FALSE(InDoubt());
}

TEST_F(ClockDoubtTest, BeyondThatTheClockIsInDoubt) {
  Start();
  PlayOne();
  ASSERT_TRUE(engine_->Drain().ok());
  engine_.reset();
  machine_.Step(kJumpMs);
  OpenByMachine();
  EXPECT_TRUE(InDoubt());
  EXPECT_EQ(engine_->DropExpired().code(), StatusCode::kUnavailable);
  // Closed and opened again it is no less in doubt.
  OpenByMachine();
  EXPECT_TRUE(InDoubt());
  machine_.Step(-kJumpMs);
  EXPECT_FALSE(InDoubt());
  ExpectSeen();
}

TEST_F(ClockDoubtTest, TheJumpIsAnOption) {
  Start();
  engine_.reset();
  machine_.Step(2 * kHourMs);
  options_.clock_jump_ms = kHourMs;
  OpenByMachine();
  EXPECT_TRUE(InDoubt());
  options_.clock_jump_ms = -1;
  EXPECT_EQ(Engine::Open(Path(), options_).status().field(), "/clock_jump_ms");
}

TEST_F(ClockDoubtTest, AnOpeningMayConfirm) {
  Start();
  engine_.reset();
  machine_.Step(kJumpMs);
  options_.confirm_clock = true;
  OpenByMachine();
  EXPECT_FALSE(InDoubt());
  options_.confirm_clock = false;
  OpenByMachine();
  EXPECT_FALSE(InDoubt()) << "noted when it was closed";
}

TEST_F(ClockDoubtTest, OneOfBeforeIsBelievedOnce) {
  Open();  // by an injected clock, of which nothing is noted
  engine_.reset();
  machine_.Step(400 * kDayMs);
  OpenByMachine();
  EXPECT_FALSE(InDoubt());
  engine_.reset();
  machine_.Step(400 * kDayMs);
  OpenByMachine();
  EXPECT_TRUE(InDoubt());
}

TEST_F(ClockDoubtTest, TheTimeIsNotedOnceAMinute) {
  Start();
  ASSERT_TRUE(engine_->Sync().ok());
  EXPECT_NE(Noted().find(Says(kStartMs)), std::string::npos) << Noted();
  machine_.Pass(59'999);
  ASSERT_TRUE(engine_->Sync().ok());
  EXPECT_NE(Noted().find(Says(kStartMs)), std::string::npos) << Noted();
  machine_.Pass(1);
  ASSERT_TRUE(engine_->Sync().ok());
  EXPECT_NE(Noted().find(Says(kStartMs + 60'000)), std::string::npos) << Noted();
  // Not while it is in doubt.
  machine_.Step(kJumpMs);
  machine_.Pass(60'000);
  ASSERT_TRUE(engine_->Sync().ok());
  OpenByMachine();
  EXPECT_NE(Noted().find(Says(kStartMs + 60'000)), std::string::npos) << Noted();
}

TEST_F(ClockDoubtTest, AnInjectedClockIsBelieved) {
  Open();
  clock_.Advance(4'000 * kDayMs);
  EXPECT_FALSE(InDoubt());
  EXPECT_TRUE(engine_->DropExpired().ok());
  Reopen();
  EXPECT_FALSE(InDoubt());
  const Result<int64_t> confirmed = engine_->ConfirmClock();
  ASSERT_TRUE(confirmed.ok());
  EXPECT_EQ(*confirmed, clock_.NowMs());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
