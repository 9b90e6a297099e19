// Items that were on a screen: kept like impressions, with times and surfaces, asked for by
// questions, and gone with their user, their age or their collection.

#include "seendb/facts.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ExposuresTest : public EngineTest {
 protected:
  RecordResult Expose(const std::string& user, const Items& items,
                      std::optional<int64_t> at_ms = {}, std::string_view surface = {}) {
    std::vector<Exposure> exposed;
    for (const std::string& item : items) {
      exposed.push_back({IdRef(user), IdRef(item), at_ms, surface});
    }
    const auto result = engine_->RecordExposures(exposed);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? *result : RecordResult();
  }
  /// The unseen of `items` by what doesn't count as unseen.
  Items Asked(const std::string& user, const Items& items, const std::vector<NotEntry>& no) {
    std::vector<IdRef> ids;
    for (const std::string& item : items) ids.emplace_back(item);
    const Question question{.no = no};
    const Status status = engine_->Filter(
        {.user = IdRef(user), .items = ids, .question = &question, .explain = true}, &answer_);
    EXPECT_TRUE(status.ok()) << status.ToString();
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(items[at]);
    return unseen;
  }
  Status Refused(const NotEntry& entry) {
    const Question question{.no = {&entry, 1}};
    return engine_->Filter({.user = IdRef("u"), .question = &question}, &answer_);
  }
  std::vector<std::string> Families() {
    std::vector<std::string> names;
    EXPECT_TRUE(engine_
                    ->Scan("exposures/",
                           [&](const ScanRow& row) {
                             names.push_back(row.family);
                             return true;
                           })
                    .ok());
    return names;
  }
};

constexpr NotEntry kExposedAtAll{.fact = Fact::kExposed};

TEST_F(ExposuresTest, CountWhereAQuestionAsksForThem) {
  Open();
  EXPECT_EQ(Expose("u", {"v1"}).accepted, 1u);
  EXPECT_EQ(Unseen("u", {"v1", "v2"}), (Items{"v1", "v2"})) << "nothing says that they count";
  EXPECT_EQ(Asked("u", {"v1", "v2"}, {kExposedAtAll}), Items{"v2"});
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kExposed);
  EXPECT_EQ(answer_.seen, 1u);
  EXPECT_EQ(answer_.coarse, 0);
  EXPECT_EQ(answer_.beyond, 0);
  EXPECT_EQ(engine_->Stats().exposures_accepted, 1u);

  PolicyPatch patch;
  patch.exposed_is_seen = true;
  Put("default", patch);
  EXPECT_EQ(Unseen("u", {"v1", "v2"}), Items{"v2"});
}

TEST_F(ExposuresTest, OutliveDrainsCompactionsAndOpenings) {
  Open();
  Expose("u", {"v1"}, kStartMs - kHourMs, "home");
  Expose("u", {"v2"});
  const Items all{"v1", "v2", "v3"};
  Drain();
  EXPECT_EQ(Asked("u", all, {kExposedAtAll}), Items{"v3"});
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_EQ(Asked("u", all, {kExposedAtAll}), Items{"v3"});
  Reopen();
  EXPECT_EQ(Asked("u", all, {kExposedAtAll}), Items{"v3"});
  ASSERT_TRUE(engine_->Checkpoint(dir_ + "/copy").ok());
  engine_.reset();
  std::filesystem::rename(Path(), dir_ + "/before");
  std::filesystem::rename(dir_ + "/copy", Path());
  Open();
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kExposed, .surface = "home"}}), (Items{"v2", "v3"}));
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 0u);
}

TEST_F(ExposuresTest, ADatabaseWithoutAnyHasNoFamilyForThem) {
  Open();
  Play("u", {"v1"});
  Serve("u", {"v1"});
  EXPECT_EQ(Asked("u", {"v1"}, {kExposedAtAll}), Items{"v1"});
  Reopen();
  EXPECT_EQ(Families(), Items{});
  Expose("u", {"v1"});
  EXPECT_EQ(Families(), Items{"exposures/default"});
}

TEST_F(ExposuresTest, ASpanIsClosedAndKnowsTheMillisecond) {
  Open();
  Expose("u", {"old"}, kStartMs - kHourMs - 1);
  Expose("u", {"edge"}, kStartMs - kHourMs);
  Expose("u", {"ahead"}, kStartMs + kHourMs);
  const Items all{"old", "edge", "ahead"};
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kExposed, .within_ms = kHourMs}}), Items{"old"});
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kExposed, .within_ms = kHourMs - 1}}),
            (Items{"old", "edge"}));
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kExposed, .within_ms = kHourMs + 1}}), Items{});
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kExposed, .within_ms = INT64_MAX}}), Items{});
}

TEST_F(ExposuresTest, OneEventMustMeetAllMembersOfAnEntry) {
  Open();
  Expose("u", {"v"}, kStartMs - 2 * kHourMs, "home");
  Expose("u", {"v"}, kStartMs, "search");
  const auto home = [](int64_t within_ms) {
    return NotEntry{.fact = Fact::kExposed, .surface = "home", .within_ms = within_ms};
  };
  EXPECT_EQ(Asked("u", {"v"}, {home(kHourMs)}), Items{"v"}) << "it was on search since";
  EXPECT_EQ(Asked("u", {"v"}, {home(2 * kHourMs)}), Items{});
  EXPECT_EQ(Asked("u", {"v"}, {{.fact = Fact::kExposed, .within_ms = kHourMs}}), Items{});
  EXPECT_EQ(Asked("u", {"v"}, {{.fact = Fact::kExposed, .surface = "home", .last = 1}}),
            Items{"v"});
  EXPECT_EQ(Asked("u", {"v"}, {home(kHourMs), {.fact = Fact::kExposed, .surface = "search"}}),
            Items{})
      << "entries are united";
}

TEST_F(ExposuresTest, ServedAndPlayedAreAskedForInTheSameWay) {
  Open();
  Serve("u", {"s1"}, kStartMs - kHourMs);
  Serve("u", {"s2"}, kStartMs);
  Play("u", {"p"});
  const Items all{"s1", "s2", "p"};
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kServed, .within_ms = 1}}), (Items{"s1", "p"}));
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kServed, .last = 2}}), Items{"p"});
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kServed, .last = 1}}), (Items{"s1", "p"}));
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kPlayed}}), (Items{"s1", "s2"}));
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kPlayed}, {.fact = Fact::kServed}}), Items{});
  EXPECT_EQ(Asked("u", all, {kExposedAtAll}), all);
}

TEST_F(ExposuresTest, AWindowOfPlaysReachesAsFarAsTheQuestionSays) {
  Open();
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 10};
  patch.window = 1;
  patch.retention = 4;
  Put("default", patch);
  Play("u", {"older"}, kStartMs - 25 * kDayMs);
  Play("u", {"now"}, kStartMs);
  const Items all{"older", "now"};
  for (const bool drained : {false, true}) {
    if (drained) Drain();
    EXPECT_EQ(Unseen("u", all), Items{"older"});
    EXPECT_EQ(Asked("u", all, {{.fact = Fact::kPlayed, .window = 1}}), Items{"older"});
    EXPECT_EQ(Asked("u", all, {{.fact = Fact::kPlayed, .window = 4}}), Items{});
    EXPECT_EQ(answer_.coarse, 0);
  }
}

TEST_F(ExposuresTest, ABucketThatASpanOnlyTouchesCountsWholeAndIsNamed) {
  Open();
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 10};
  patch.window = 4;
  patch.retention = 4;
  Put("default", patch);
  // 2026-03-10 lies in the 10 days from 2026-03-08.
  Play("u", {"older"}, kStartMs - 11 * kDayMs);  // 2026-02-27, in those from 2026-02-26
  Play("u", {"now"}, kStartMs);
  const Items all{"older", "now"};
  const uint8_t played = FactBit(Fact::kPlayed);
  for (const bool drained : {false, true}) {
    SCOPED_TRACE(drained);
    if (drained) Drain();
    EXPECT_EQ(Asked("u", all, {{.fact = Fact::kPlayed, .within_ms = 10 * kDayMs}}), Items{})
        << "the span begins on 2026-02-28, later than the play";
    EXPECT_EQ(answer_.coarse, played);
    EXPECT_EQ(Asked("u", {"now"}, {{.fact = Fact::kPlayed, .within_ms = 10 * kDayMs}}), Items{});
    EXPECT_EQ(answer_.coarse, 0) << "its bucket lies in the span";
    EXPECT_EQ(Asked("u", all, {{.fact = Fact::kPlayed, .within_ms = kDayMs}}), Items{"older"});
    EXPECT_EQ(answer_.coarse, played);
    EXPECT_EQ(Asked("u", all, {{.fact = Fact::kPlayed, .window = 1, .within_ms = 10 * kDayMs}}),
              Items{"older"});
    EXPECT_EQ(answer_.coarse, 0) << "the window begins later than the span";
    EXPECT_EQ(answer_.beyond, 0);
    EXPECT_EQ(Asked("u", all, {{.fact = Fact::kPlayed, .within_ms = 400 * kDayMs}}), Items{});
    EXPECT_EQ(answer_.beyond, played);
    EXPECT_FALSE(answer_.degraded);
  }
}

TEST_F(ExposuresTest, TheNewestOfThoseDaysAreKept) {
  Open();
  PolicyPatch patch;
  patch.exposures.recent = 3;
  patch.exposures.days = 2;
  Put("default", patch);
  Expose("u", {"gone"}, kStartMs - 2 * kDayMs - 1);
  Expose("u", {"v0"}, kStartMs - 2 * kDayMs);
  EXPECT_EQ(Asked("u", {"gone", "v0"}, {kExposedAtAll}), Items{"gone"});
  EXPECT_EQ(answer_.beyond, 0);
  EXPECT_EQ(Asked("u", {"gone", "v0"}, {{.fact = Fact::kExposed, .within_ms = 3 * kDayMs}}),
            Items{"gone"});
  EXPECT_EQ(answer_.beyond, FactBit(Fact::kExposed)) << "no more than two days are kept";
  for (const char* item : {"v1", "v2", "v3"}) {
    clock_.Advance(1);
    Expose("u", {item});
  }
  const Items all{"v0", "v1", "v2", "v3"};
  EXPECT_EQ(Asked("u", all, {kExposedAtAll}), Items{"v0"});
  EXPECT_EQ(answer_.beyond, FactBit(Fact::kExposed)) << "the list is full";
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kExposed, .within_ms = 1}}), (Items{"v0", "v1"}));
  EXPECT_EQ(answer_.beyond, 0);
  EXPECT_EQ(Asked("u", all, {{.fact = Fact::kExposed, .last = 2}}), (Items{"v0", "v1"}));
  EXPECT_EQ(answer_.beyond, 0);
}

TEST_F(ExposuresTest, WhatIsTooOldLeavesWithCompactions) {
  Open();
  Expose("u", {"v1"});
  Expose("w", {"v1"});
  ASSERT_TRUE(engine_->Compact().ok());
  clock_.Advance(20 * kDayMs);
  Expose("w", {"v2"});
  clock_.Advance(10 * kDayMs + 1);
  RunDue();
  EXPECT_EQ(Asked("w", {"v1", "v2"}, {kExposedAtAll}), Items{"v1"});
  const auto held = [&](const char* user) {
    const auto report = engine_->Inspect(IdRef(user));
    EXPECT_TRUE(report.ok());
    return report->exposures.empty() ? size_t{0} : report->exposures[0].entries.size();
  };
  EXPECT_EQ(held("u"), 0u);
  EXPECT_EQ(held("w"), 1u);
  EXPECT_EQ(Families().size(), 2u) << "nothing was compacted yet";
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_EQ(Families().size(), 1u);
}

TEST_F(ExposuresTest, AnErasureAndAClearTakeThem) {
  Open();
  for (const char* user : {"erased", "cleared"}) Expose(user, {"v"});
  ASSERT_TRUE(engine_->EraseUser(IdRef("erased")).ok());
  EXPECT_EQ(Asked("erased", {"v"}, {kExposedAtAll}), Items{"v"});
  EXPECT_EQ(Expose("erased", {"v"}, kStartMs).refused, 1u) << "it comes late";
  ASSERT_TRUE(engine_->ClearHistory(IdRef("cleared"), {.filter = true}).ok());
  EXPECT_EQ(Asked("cleared", {"v"}, {kExposedAtAll}), Items{"v"});
  EXPECT_EQ(Expose("cleared", {"v"}, kStartMs).refused, 1u);
  EXPECT_EQ(engine_->Stats().exposures_refused, 2u);
  clock_.Advance(1);
  Expose("erased", {"v"});
  EXPECT_EQ(Asked("erased", {"v"}, {kExposedAtAll}), Items{});
}

TEST_F(ExposuresTest, AnExposureAheadOfTheClockIsErasedToo) {
  Open();
  Expose("u", {"v"}, kStartMs + kHourMs);
  Erasure erasure;
  ASSERT_TRUE(engine_->EraseUser(IdRef("u"), {}, &erasure).ok());
  EXPECT_TRUE(erasure.known);
  EXPECT_EQ(erasure.until_ms, kStartMs + kHourMs);
}

TEST_F(ExposuresTest, GoWithTheirCollection) {
  Open();
  Put("video", {});
  const Exposure exposed{IdRef("u"), IdRef("v")};
  ASSERT_TRUE(engine_->RecordExposures({&exposed, 1}, {.collection = "video"}).ok());
  PolicyPatch fixed;
  fixed.window = 2;
  EXPECT_EQ(engine_->PutCollection("video", fixed).code(), StatusCode::kIncompatible);
  ASSERT_TRUE(engine_->DeleteCollection("video").ok());
  EXPECT_EQ(Families(), Items{});
  Put("video", {});
  const NotEntry no = kExposedAtAll;
  const Question question{.no = {&no, 1}};
  const IdRef item("v");
  ASSERT_TRUE(engine_
                  ->Filter({.collection = "video",
                            .user = IdRef("u"),
                            .items = {&item, 1},
                            .question = &question},
                           &answer_)
                  .ok());
  EXPECT_EQ(answer_.unseen.size(), 1u);
  EXPECT_TRUE(engine_->RecordExposures({&exposed, 1}, {.collection = "video"}).ok());
}

TEST_F(ExposuresTest, ADeletionToBeRecommendedAgainLiftsThem) {
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  patch.exposed_is_seen = true;
  Put("default", patch);
  Play("u", {"v"});
  Expose("u", {"v"});
  clock_.Advance(1);
  const IdRef item("v");
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "default", {&item, 1}).ok());
  EXPECT_EQ(Unseen("u", {"v"}), Items{"v"});
  clock_.Advance(1);
  Expose("u", {"v"});
  EXPECT_EQ(Unseen("u", {"v"}), Items{});
}

TEST_F(ExposuresTest, VerifyRefutesNone) {
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  patch.exposed_is_seen = true;
  Put("default", patch);
  Expose("u", {"v"});
  const IdRef item("v");
  ASSERT_TRUE(
      engine_->Filter({.user = IdRef("u"), .items = {&item, 1}, .verify = true}, &answer_).ok());
  EXPECT_EQ(answer_.seen, 1u);
  EXPECT_EQ(answer_.refuted, 0u);
}

TEST_F(ExposuresTest, ThePeoplesReportHasThem) {
  Open();
  Expose("u", {"v1"}, {}, "home");
  const auto report = engine_->Inspect(IdRef("u"));
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->exposures.size(), 1u);
  ASSERT_EQ(report->exposures[0].entries.size(), 1u);
  EXPECT_EQ(report->exposures[0].entries[0].surface, "home");
  EXPECT_EQ(report->exposures[0].entries[0].at_ms, kStartMs);
}

TEST_F(ExposuresTest, MemoryAloneRecordsNoneBeforeTheFirst) {
  Open();
  const Exposure exposed{IdRef("u"), IdRef("v")};
  EXPECT_EQ(engine_->RecordExposures({&exposed, 1}, {.memory_only = true}).status().code(),
            StatusCode::kIncomplete);
  ASSERT_TRUE(engine_->RecordExposures({&exposed, 1}).ok());
  EXPECT_TRUE(engine_->RecordExposures({&exposed, 1}, {.memory_only = true}).ok());
}

TEST_F(ExposuresTest, OneFamilyTooManyIsRefused) {
  options_.shards = 1;
  Open();
  const auto families = static_cast<uint32_t>(engine_->Stats().column_families);
  engine_.reset();
  options_.max_column_families = families;
  Open();
  const Exposure exposed{IdRef("u"), IdRef("v")};
  EXPECT_EQ(engine_->RecordExposures({&exposed, 1}).status().code(), StatusCode::kIncompatible);
  EXPECT_EQ(Asked("u", {"v"}, {kExposedAtAll}), Items{"v"});
}

TEST_F(ExposuresTest, WhatIsIllFormedChangesNothing) {
  Open();
  const std::string longest(kMaxSurfaceBytes, 's'), longer(kMaxSurfaceBytes + 1, 's');
  EXPECT_EQ(Expose("u", {"v0"}, {}, longest).accepted, 1u);
  for (const std::string_view surface : {std::string_view(longer), std::string_view("\xff")}) {
    const Exposure exposed[] = {{IdRef("u"), IdRef("v1")}, {IdRef("u"), IdRef("v2"), {}, surface}};
    const auto refused = engine_->RecordExposures(exposed);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(refused.status().field(), "/1/surface");
  }
  EXPECT_EQ(Asked("u", {"v1", "v2"}, {kExposedAtAll}), (Items{"v1", "v2"}));
  EXPECT_EQ(Expose("u", {"v"}, kStartMs - 400 * kDayMs).refused, 1u) << "as a play";
}

TEST_F(ExposuresTest, AQuestionForWhatThereIsNotIsRefused) {
  Open();
  const auto field = [&](const NotEntry& entry) {
    const Status refused = Refused(entry);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << refused.ToString();
    return std::string(refused.field());
  };
  EXPECT_EQ(field({.fact = Fact::kPlayed, .window = 0}), "/not/0/window");
  EXPECT_EQ(field({.fact = Fact::kPlayed, .window = 7}), "/not/0/window");
  EXPECT_EQ(field({.fact = Fact::kPlayed, .within_ms = 0}), "/not/0/within");
  EXPECT_EQ(field({.fact = Fact::kPlayed, .last = 1}), "/not/0/last");
  EXPECT_EQ(field({.fact = Fact::kPlayed, .surface = "home"}), "/not/0/surface");
  EXPECT_EQ(field({.fact = Fact::kServed, .last = 101}), "/not/0/last");
  EXPECT_EQ(field({.fact = Fact::kExposed, .last = 1001}), "/not/0/last");
  EXPECT_EQ(field({.fact = Fact::kExposed, .last = 0}), "/not/0/last");
  EXPECT_TRUE(Refused({.fact = Fact::kExposed, .last = 1000}).ok());
  EXPECT_TRUE(Refused({.fact = Fact::kPlayed, .window = 6}).ok());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
