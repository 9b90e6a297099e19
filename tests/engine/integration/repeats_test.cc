// Seen candidates that come back where too few are unseen: by the latest of their times, never
// younger than the gap, in the ring, in filters, in lists and in history.

#include "seendb/marks.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr WhenShort kTwoWeeks{.need = 20, .gap_ms = 14 * kDayMs, .max = 10};

class RepeatsTest : public EngineTest {
 protected:
  /// A collection with a bucket a day.
  static PolicyPatch Daily() {
    PolicyPatch patch;
    patch.bucket = BucketSpec{BucketKind::kDays, 1};
    patch.window = 60;
    patch.retention = 90;
    return patch;
  }
  void Start(const PolicyPatch& patch = Daily()) {
    Open();
    Put("c", patch);
  }
  void Expose(const Items& items, int64_t at_ms) {
    std::vector<Exposure> exposed;
    for (const std::string& item : items) exposed.push_back({IdRef("u"), IdRef(item), at_ms});
    EXPECT_TRUE(engine_->RecordExposures(exposed, {.collection = "c"}).ok());
  }
  Status Ask(const Items& items, const WhenShort& when_short, Question question = {},
             FilterRequest request = {}) {
    ids_ = std::vector<IdRef>(items.begin(), items.end());
    question.when_short = when_short;
    request.user = IdRef("u");
    request.collection = "c";
    request.items = ids_;
    request.question = &question;
    return engine_->Filter(request, &answer_);
  }
  Items Repeats(const Items& items, const WhenShort& when_short = kTwoWeeks,
                const Question& question = {}, const FilterRequest& request = {}) {
    const Status asked = Ask(items, when_short, question, request);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    EXPECT_EQ(answer_.unseen.size() + answer_.seen + answer_.excluded + answer_.duplicates,
              answer_.examined);
    Items repeats;
    for (const uint32_t at : answer_.repeats) repeats.push_back(items[at]);
    return repeats;
  }
  /// A gap that just reaches back to the time.
  WhenShort Since(int64_t at_ms) const {
    return {.need = 20, .gap_ms = clock_.NowMs() - at_ms, .max = 10};
  }
  /// Whether the item comes back at a gap to `at_ms`, and not at one that is longer by 1 ms.
  void ExpectDated(const std::string& item, int64_t at_ms) {
    EXPECT_EQ(Repeats({item}, Since(at_ms)), Items{item});
    EXPECT_EQ(Repeats({item}, Since(at_ms - 1)), Items{});
  }

  std::vector<IdRef> ids_;
};

constexpr int64_t kMidnightMs = kStartMs - 12 * kHourMs;  // the beginning of today's bucket

TEST_F(RepeatsTest, TheOneLongestAgoComesFirst) {
  Start();
  Play("u", {"c20"}, kStartMs - 20 * kDayMs, "c");
  Play("u", {"a30", "b30"}, kStartMs - 30 * kDayMs, "c");
  Play("u", {"d13"}, kStartMs - 13 * kDayMs, "c");
  Play("u", {"e0"}, {}, "c");
  const Items all{"new", "e0", "d13", "c20", "b30", "a30", "a30"};
  for (const bool drain : {false, true}) {
    if (drain) Drain();
    for (const bool reopen : {false, true}) {
      if (reopen) Reopen();
      EXPECT_EQ(Repeats(all), (Items{"b30", "a30", "c20"})) << "of one time as they were asked";
      EXPECT_EQ(answer_.seen, 5u) << "they are seen";
      EXPECT_EQ(answer_.duplicates, 1u);
      EXPECT_EQ(Repeats(all, {.need = 2, .gap_ms = 14 * kDayMs, .max = 1}), Items{"b30"});
      EXPECT_EQ(Repeats(all, {.need = 1, .gap_ms = 14 * kDayMs, .max = 1}), Items{})
          << "one is unseen";
    }
  }
}

TEST_F(RepeatsTest, AGapKnowsTheMillisecond) {
  Start();
  Play("u", {"staged"}, kStartMs - 20 * kDayMs, "c");
  ExpectDated("staged", kMidnightMs - 19 * kDayMs);
  Drain();
  ExpectDated("staged", kMidnightMs - 19 * kDayMs);
  Serve("u", {"served"}, kStartMs - 15 * kDayMs + 7, "c");
  ExpectDated("served", kStartMs - 15 * kDayMs + 7);
  Expose({"exposed"}, kStartMs - 15 * kDayMs + 9);
  const NotEntry no{.fact = Fact::kExposed};
  const Question question{.no = {&no, 1}};
  EXPECT_EQ(Repeats({"exposed"}, Since(kStartMs - 15 * kDayMs + 9), question), Items{"exposed"});
  EXPECT_EQ(Repeats({"exposed"}, Since(kStartMs - 15 * kDayMs + 8), question), Items{});
}

TEST_F(RepeatsTest, TheLatestOfAllFactsAskedCounts) {
  Start();
  Play("u", {"v"}, kStartMs - 40 * kDayMs, "c");
  Play("u", {"v"}, kStartMs - 35 * kDayMs, "c");
  Drain();
  Play("u", {"v"}, kStartMs - 30 * kDayMs, "c");  // in the ring
  ExpectDated("v", kMidnightMs - 29 * kDayMs);
  Serve("u", {"v"}, kStartMs - 25 * kDayMs, "c");
  Expose({"v"}, kStartMs - 20 * kDayMs);
  ExpectDated("v", kStartMs - 25 * kDayMs);
  const NotEntry played{.fact = Fact::kPlayed}, exposed{.fact = Fact::kExposed};
  EXPECT_EQ(Repeats({"v"}, Since(kMidnightMs - 29 * kDayMs), {.no = {&played, 1}}), Items{"v"})
      << "that it was served since was not asked";
  const std::vector<NotEntry> both{played, exposed};
  EXPECT_EQ(Repeats({"v"}, Since(kStartMs - 20 * kDayMs), {.no = both}), Items{"v"});
  EXPECT_EQ(Repeats({"v"}, Since(kStartMs - 20 * kDayMs - 1), {.no = both}), Items{});
}

TEST_F(RepeatsTest, NeverWhatAMarkOrTheCallerTook) {
  Start();
  const Items all{"marked", "excluded", "free"};
  Play("u", all, kStartMs - 30 * kDayMs, "c");
  const Mark mark{"author:1", {}, {}};
  ASSERT_TRUE(engine_->PutMarks(IdRef("u"), {&mark, 1}).ok());
  const std::string_view of = "author:1";
  const std::vector<CandidateGroups> groups{{.of = {&of, 1}}, {}, {}};
  const IdRef excluded("excluded");
  EXPECT_EQ(Repeats(all, kTwoWeeks, {.groups = groups}, {.exclude = {&excluded, 1}}),
            Items{"free"});
}

TEST_F(RepeatsTest, NotWhereTheLimitWasReachedNorWhereAPartIsMissing) {
  Start();
  Play("u", {"old"}, kStartMs - 30 * kDayMs, "c");
  EXPECT_EQ(Repeats({"old", "a", "b"}, kTwoWeeks, {}, {.limit = 2}), Items{});
  EXPECT_EQ(Repeats({"old", "a", "b"}, kTwoWeeks, {}, {.limit = 3}), Items{"old"});
  EXPECT_EQ(Repeats({"old", "a"}, kTwoWeeks, {}, {.short_term_alone = true}), Items{});
  EXPECT_TRUE(answer_.degraded);
}

TEST_F(RepeatsTest, AreRecordedToo) {
  Start();
  Play("u", {"a", "b"}, kStartMs - 30 * kDayMs, "c");
  WhenShort one = kTwoWeeks;
  one.max = 1;
  EXPECT_EQ(Repeats({"new", "a", "b"}, one, {}, {.record = true}), Items{"a"});
  EXPECT_TRUE(answer_.recorded);
  EXPECT_EQ(engine_->Stats().impressions_accepted, 2u);
  EXPECT_EQ(engine_->Stats().candidates_repeated, 1u);
  EXPECT_EQ(Repeats({"new", "a", "b"}, one, {}, {.record = true}), Items{"b"});
  EXPECT_EQ(Repeats({"new", "a", "b"}, one, {}, {.record = true}), Items{});
}

TEST_F(RepeatsTest, HistoryKnowsTheTimeOfAPlay) {
  PolicyPatch patch;  // a bucket a month
  patch.history.enabled = true;
  Start(patch);
  const int64_t played_ms = kStartMs - 20 * kDayMs;  // in February
  const int64_t end_ms = kMidnightMs - 9 * kDayMs;
  Play("u", {"v"}, played_ms - kHourMs, "c");
  Play("u", {"v"}, played_ms, "c");
  for (const bool drain : {false, true}) {
    if (drain) Drain();
    ExpectDated("v", played_ms);
  }
  EXPECT_EQ(Ask({"v"}, kTwoWeeks, {}, {.memory_only = true}).code(), StatusCode::kIncomplete);
  EXPECT_TRUE(answer_.needs_disk);
  EXPECT_EQ(answer_.repeats.size(), 0u);

  const IdRef item("v");
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "c", {&item, 1}).ok());
  ExpectDated("v", end_ms);
}

TEST_F(RepeatsTest, WhereHistoryWasPausedTheBucketsEndIsTheTime) {
  PolicyPatch patch;
  patch.history.enabled = true;
  Start(patch);
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  Play("u", {"v"}, {}, "c");
  clock_.Advance(30 * kDayMs);
  ExpectDated("v", kMidnightMs + 22 * kDayMs);
}

TEST_F(RepeatsTest, AFalsePositiveHasTheEndOfItsBucket) {
  options_.list_limit = 16;
  PolicyPatch patch = Daily();
  patch.fpr = 0.5;
  patch.history.enabled = true;
  Start(patch);
  Play("u", Numbered("played", 100), kStartMs - 20 * kDayMs, "c");
  Drain();
  const Items never = Numbered("never", 200);
  const WhenShort all{.need = 201, .gap_ms = kStartMs - (kMidnightMs - 19 * kDayMs), .max = 1'000};
  EXPECT_EQ(Repeats(never, all).size(), answer_.seen);
  EXPECT_GT(answer_.seen, 0u);
  WhenShort longer = all;
  ++longer.gap_ms;
  EXPECT_EQ(Repeats(never, longer), Items{});
}

TEST_F(RepeatsTest, WhatADeletionLiftedHasNoTime) {
  PolicyPatch patch = Daily();
  patch.history.enabled = true;
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  Start(patch);
  Play("u", {"v"}, {}, "c");
  Serve("u", {"v"}, kStartMs - 30 * kDayMs, "c");
  const IdRef item("v");
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "c", {&item, 1}).ok());
  EXPECT_EQ(Repeats({"v"}), Items{});
  EXPECT_EQ(answer_.unseen.size(), 1u);
  clock_.Advance(kHourMs);
  Serve("u", {"v"}, {}, "c");
  clock_.Advance(14 * kDayMs);
  EXPECT_EQ(Repeats({"v"}), Items{"v"}) << "it was served 14 days ago, its play does not count";
}

TEST_F(RepeatsTest, AWrongNumberNamesItsField) {
  options_.max_candidates = 50;
  Start();
  const auto field = [&](const WhenShort& asked) {
    const Status status = Ask({"v"}, asked);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return std::string(status.field());
  };
  EXPECT_EQ(field({.need = 0}), "/when_short/need");
  EXPECT_EQ(field({.need = 51}), "/when_short/need");
  EXPECT_EQ(field({.gap_ms = 0}), "/when_short/gap");
  EXPECT_EQ(field({.max = 0}), "/when_short/max");
  EXPECT_EQ(field({.max = 1'001}), "/when_short/max");
  EXPECT_TRUE(Ask({"v"}, {.need = 50, .gap_ms = INT64_MAX, .max = 1'000}).ok());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
