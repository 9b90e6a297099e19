// Buckets beside the common path: late plays into sealed ones, plays of the future, seals by hand,
// the exact representation, the ceiling, policies that change.

#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kFebruary = kStartMs - 30 * kDayMs;

class BucketLifeTest : public EngineTest {
 protected:
  BucketLifeTest() { options_.shards = 1; }

  BucketReport ReportOf(const std::string& user, const std::string& bucket,
                        const std::string& collection = "default") {
    const auto report = engine_->Inspect(IdRef(user), collection);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    for (const BucketReport& row : report->buckets) {
      if (row.bucket == bucket) return row;
    }
    ADD_FAILURE() << user << " has nothing in " << bucket;
    return {};
  }
  BucketInfo InfoOf(const std::string& bucket, const std::string& collection = "default") {
    for (const BucketInfo& info : engine_->Buckets()) {
      if (info.collection == collection && info.bucket == bucket) return info;
    }
    ADD_FAILURE() << "no bucket " << bucket;
    return {};
  }
  void SealClosed() {
    const Status s = engine_->SealClosed();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
};

TEST_F(BucketLifeTest, LatePlaysGoIntoTheTailAndAreSealedAgain) {
  Open();
  Play("u1", Numbered("f", 1000), kFebruary);
  Play("u2", {"x"}, kFebruary);
  Drain();
  SealClosed();
  BucketReport report = ReportOf("u1", "2026-02");
  EXPECT_EQ(report.form, FilterForm::kSealed);
  EXPECT_EQ(report.list_items, 0u);
  EXPECT_LE(static_cast<double>(report.bytes), 1.8 * 1000);
  const uint64_t sealed_before = engine_->Stats().buckets_sealed;
  SealClosed();
  EXPECT_EQ(engine_->Stats().buckets_sealed, sealed_before) << "nothing has grown";

  Play("u1", Numbered("late", 500), kFebruary);
  Play("u2", {"late"}, kFebruary);
  Play("u3", {"late"}, kFebruary);
  Drain();
  report = ReportOf("u1", "2026-02");
  EXPECT_EQ(report.form, FilterForm::kSealed);
  // Exact, until sealed again; but for items that the sealed filter has by mistake.
  EXPECT_LE(report.list_items, 500u);
  EXPECT_GE(report.list_items, 490u);
  EXPECT_EQ(Unseen("u1", Numbered("late", 500)), Items{});
  SealClosed();
  EXPECT_EQ(engine_->Stats().buckets_sealed, sealed_before + 1);
  report = ReportOf("u1", "2026-02");
  EXPECT_EQ(report.list_items, 0u);
  EXPECT_EQ(report.layers.size(), 2u);
  for (const char* user : {"u2", "u3"}) EXPECT_EQ(Unseen(user, {"late"}), Items{});
  EXPECT_EQ(Unseen("u1", Numbered("late", 500)), Items{});
  EXPECT_EQ(Unseen("u1", Numbered("f", 1000)), Items{});
  SealClosed();
  EXPECT_EQ(engine_->Stats().buckets_sealed, sealed_before + 1) << "nothing has grown since";
  Reopen();
  EXPECT_EQ(Unseen("u1", Numbered("late", 500)), Items{});
  EXPECT_EQ(InfoOf("2026-02").state, BucketState::kSealed);
  SealClosed();
  EXPECT_EQ(engine_->Stats().buckets_sealed, 0u) << "nor before the restart";
}

// How much a bucket has grown since it was sealed outlives the process.
TEST_F(BucketLifeTest, GrowthIsKnownAfterARestart) {
  Open();
  Play("u1", Numbered("f", 300), kFebruary);
  Drain();
  SealClosed();
  for (int round = 0; round < 2; ++round) {
    SCOPED_TRACE(round);
    Play("u1", Numbered("late" + std::to_string(round) + "-", 600), kFebruary);
    Drain();
    Reopen();
    RunDue();
    EXPECT_EQ(engine_->Stats().buckets_sealed, 0u) << "too little for maintenance";
    Play("u1", Numbered("more" + std::to_string(round) + "-", 600), kFebruary);
    Drain();
    Reopen();
    clock_.Advance(kDayMs);
    RunDue();
    EXPECT_EQ(engine_->Stats().buckets_sealed, 1u) << "1,200 in two processes";
    Reopen();
    SealClosed();
    EXPECT_EQ(engine_->Stats().buckets_sealed, 0u);
  }
  Play("u1", {"one"}, kFebruary);
  Drain();
  Reopen();
  SealClosed();
  EXPECT_EQ(engine_->Stats().buckets_sealed, 1u) << "by hand for one play too";
}

// As older software left it: nothing is known to have grown, until it grows.
TEST_F(BucketLifeTest, AMarkerThatTellsNothingOfGrowth) {
  Open();
  Play("u1", Numbered("f", 300), kFebruary);
  Drain();
  SealClosed();
  Play("u1", Numbered("late", 300), kFebruary);
  Drain();
  engine_.reset();
  {
    RawShard raw(Path());
    raw.Put("default", "sealed/default/2026-02", "{}");
    ASSERT_TRUE(raw.db()->Delete({}, "late/default/2026-02").ok());
  }
  Open();
  SealClosed();
  EXPECT_EQ(engine_->Stats().buckets_sealed, 0u);
  Play("u1", {"one"}, kFebruary);
  Drain();
  Reopen();
  SealClosed();
  EXPECT_EQ(engine_->Stats().buckets_sealed, 1u);
}

// By hand the current bucket too; it goes on taking plays and is sealed again when it closes.
TEST_F(BucketLifeTest, TheCurrentBucketSealedByHand) {
  Open();
  Play("u1", Numbered("a", 300));
  const Status sealed = engine_->Seal("default", "2026-03");
  ASSERT_TRUE(sealed.ok()) << sealed.ToString();
  EXPECT_EQ(ReportOf("u1", "2026-03").form, FilterForm::kSealed);
  EXPECT_EQ(Unseen("u1", Numbered("a", 300)), Items{});
  for (int day = 0; day < 5; ++day) {
    clock_.Advance(kDayMs);
    Play("u1", Numbered("day" + std::to_string(day) + "-", 300));
    RunDue();
  }
  for (int day = 0; day < 5; ++day) {
    EXPECT_EQ(Unseen("u1", Numbered("day" + std::to_string(day) + "-", 300)), Items{});
  }
  clock_.Advance(25 * kDayMs);
  RunDue();
  EXPECT_EQ(InfoOf("2026-03").state, BucketState::kSealed);
  EXPECT_EQ(Unseen("u1", Numbered("a", 300)), Items{});
  EXPECT_EQ(engine_->Seal("default", "2025-01").code(), StatusCode::kNotFound);
  EXPECT_EQ(engine_->Seal("default", "March").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(engine_->Seal("none", "2026-03").code(), StatusCode::kNotFound);
}

TEST_F(BucketLifeTest, PlaysOfTheFutureGoToTheNextBucketAndCountAtOnce) {
  Open();
  clock_.Set(kStartMs + 21 * kDayMs);  // 31 March, 12:00
  EXPECT_EQ(Play("u1", {"tomorrow"}, clock_.NowMs() + 20 * kHourMs), 1u);
  EXPECT_EQ(Play("u1", {"too far"}, clock_.NowMs() + 25 * kHourMs), 0u);
  EXPECT_EQ(Unseen("u1", {"tomorrow", "too far"}), Items{"too far"});
  Drain();
  EXPECT_EQ(Unseen("u1", {"tomorrow"}), Items{});
  EXPECT_EQ(InfoOf("2026-04").state, BucketState::kFuture);
  clock_.Advance(kDayMs);
  RunDue();
  EXPECT_EQ(InfoOf("2026-04").state, BucketState::kOpen);
  EXPECT_EQ(Unseen("u1", {"tomorrow"}), Items{});
}

// Markers that outlived their bucket say nothing of the one that is made under its name later.
TEST_F(BucketLifeTest, MarkersOfADroppedBucketAreForgotten) {
  Open();
  engine_.reset();
  {
    RawShard shard(Path());
    shard.Put("default", "sealed/default/2026-02", "{}");
    shard.Put("default", "lost/default/2026-02", R"({"at_ms":1773144000000,"reason":"a table"})");
  }
  Open();
  Play("u1", Numbered("f", 300), kFebruary);
  Drain();
  Reopen();
  EXPECT_EQ(InfoOf("2026-02").state, BucketState::kClosed);
  EXPECT_EQ(Unseen("u1", {"f1", "new"}), Items{"new"});
  EXPECT_FALSE(answer_.degraded);
  SealClosed();
  EXPECT_EQ(ReportOf("u1", "2026-02").form, FilterForm::kSealed);
  Reopen();
  EXPECT_EQ(InfoOf("2026-02").state, BucketState::kSealed) << "its own marker stays";
}

// The next bucket's family is there before it begins.
TEST_F(BucketLifeTest, TheNextBucketIsMadeAhead) {
  Open();
  clock_.Set(kStartMs + 21 * kDayMs + 2 * kHourMs);
  RunDue();
  EXPECT_EQ(InfoOf("2026-04").state, BucketState::kFuture);
}

TEST_F(BucketLifeTest, ExactKeepsListsForEver) {
  options_.list_limit = 32;
  Open();
  PolicyPatch patch;
  patch.representation = Representation::kExact;
  Put("exact", patch);
  Put("bloom", {});
  for (const std::string collection : {"exact", "bloom"}) {
    Play("u1", Numbered("f", 2000), kFebruary, collection);
    Play("u1", Numbered("m", 500), std::nullopt, collection);
  }
  Drain();
  SealClosed();
  for (const std::string collection : {"exact", "bloom"}) {
    EXPECT_EQ(Unseen("u1", Numbered("f", 2000), collection), Items{});
    EXPECT_EQ(Unseen("u1", Numbered("m", 500), collection), Items{});
  }
  const Items never = Numbered("never", 20'000);
  EXPECT_EQ(Unseen("u1", never, "exact").size(), never.size());
  const BucketReport exact = ReportOf("u1", "2026-02", "exact");
  const BucketReport bloom = ReportOf("u1", "2026-02", "bloom");
  EXPECT_EQ(exact.list_items, 2000u);
  EXPECT_TRUE(exact.layers.empty());
  EXPECT_EQ(exact.form, FilterForm::kSealed);
  EXPECT_GE(exact.bytes, 12'000u);
  EXPECT_LE(bloom.bytes, exact.bytes / 2);
}

// At the ceiling memory gets shorter, which is counted and shown; the newest is always there.
TEST_F(BucketLifeTest, TheCeilingIsCountedAndShown) {
  options_.list_limit = 64;
  Open();
  PolicyPatch patch;
  patch.max_filter_bytes = 4096;
  Put("small", patch);
  for (int hour = 0; hour < 40; ++hour) {
    Play("u1", Numbered("h" + std::to_string(hour) + "-", 200), std::nullopt, "small");
    clock_.Advance(kHourMs);
    RunDue();
    if (hour % 8 == 7) {
      ASSERT_TRUE(engine_->Compact().ok());
    }
  }
  EXPECT_EQ(Unseen("u1", Numbered("h39-", 200), "small"), Items{});
  EXPECT_GT(Unseen("u1", Numbered("h0-", 200), "small").size(), 150u) << "the oldest gave way";
  const BucketReport report = ReportOf("u1", "2026-03", "small");
  EXPECT_GT(report.dropped_layers, 0u);
  EXPECT_LE(report.bytes, 4096u + 200);
  EXPECT_GT(engine_->Stats().layers_dropped, 0u);
  Play("u1", {"h0-0"}, std::nullopt, "small");
  Drain();
  EXPECT_EQ(Unseen("u1", {"h0-0"}, "small"), Items{}) << "played again, seen again";
}

TEST_F(BucketLifeTest, RetentionLoweredAndRaised) {
  Open();
  PolicyPatch patch;
  patch.retention = 6;
  Put("c", patch);
  const int64_t october = kStartMs - 150 * kDayMs;
  Play("u1", {"october"}, october, "c");
  Play("u1", {"february"}, kFebruary, "c");
  Drain();
  Play("u1", {"october staged"}, october, "c");
  patch.retention = 4;
  Put("c", patch);
  EXPECT_EQ(Play("u1", {"refused"}, october, "c"), 0u);
  EXPECT_EQ(InfoOf("2025-10", "c").state, BucketState::kExpired);
  ASSERT_TRUE(engine_->DropExpired().ok());
  Drain();  // what was staged for a bucket that expired goes, and makes no family again
  for (const BucketInfo& bucket : engine_->Buckets()) EXPECT_NE(bucket.bucket, "2025-10");
  EXPECT_EQ(Unseen("u1", {"february"}, "c"), Items{});
  patch.retention = 8;
  Put("c", patch);
  EXPECT_EQ(Play("u1", {"again"}, october, "c"), 1u);
  Drain();
  EXPECT_EQ(ReportOf("u1", "2025-10", "c").items, 1u) << "what was dropped stays dropped";
  Reopen();
  EXPECT_EQ(ReportOf("u1", "2025-10", "c").items, 1u);
  patch.retention = 3;
  EXPECT_EQ(engine_->PutCollection("c", patch).code(), StatusCode::kInvalidArgument)
      << "not below the window";
}

TEST_F(BucketLifeTest, FewerImpressionsCountAtOnceAndAfterCompaction) {
  Open();
  Serve("u1", Numbered("i", 50));
  clock_.Advance(1);
  Serve("u1", {"last"});
  ASSERT_TRUE(
      engine_->Compact().ok());  // the value is whole now; no operator runs at the next read
  PolicyPatch patch;
  patch.impressions = 1;
  Put("default", patch);
  EXPECT_EQ(Unseen("u1", {"i1", "last"}), Items{"i1"});
  const auto report = engine_->Inspect(IdRef("u1"));
  EXPECT_EQ(report->impressions.at(0).entries.size(), 1u);
  patch.impressions = 0;
  Put("default", patch);
  EXPECT_EQ(Unseen("u1", {"i1", "last"}), (Items{"i1", "last"}));
  EXPECT_EQ(Serve("u1", {"more"}), 1u) << "accepted, and kept for nobody";
  EXPECT_EQ(Unseen("u1", {"more"}), Items{"more"});
  patch.served_is_seen = true;
  Put("default", patch);
  Serve("u1", {"seen"});
  EXPECT_EQ(Unseen("u1", {"seen", "more"}), Items{"more"});
  Drain();
  EXPECT_EQ(Unseen("u1", {"seen", "more"}), Items{"more"});
}

TEST_F(BucketLifeTest, TooManyCollectionsAreRefusedAndThoseThatAreThereKept) {
  options_.max_collections = 3;
  Open();
  PolicyPatch patch;
  EXPECT_TRUE(engine_->PutCollection("a", patch).ok());
  EXPECT_TRUE(engine_->PutCollection("b", patch).ok());
  const Status refused = engine_->PutCollection("c", patch);
  EXPECT_EQ(refused.code(), StatusCode::kIncompatible);
  EXPECT_EQ(refused.field(), "/engine/max_collections");
  EXPECT_TRUE(engine_->PutCollection("b", patch).ok()) << "it is there";
  EXPECT_TRUE(engine_->DeleteCollection("a").ok());
  EXPECT_TRUE(engine_->PutCollection("c", patch).ok());
  options_.max_collections = 1;
  Reopen();
  EXPECT_EQ(engine_->Collections().size(), 3u);
  EXPECT_TRUE(engine_->PutCollection("c", patch).ok());
  EXPECT_EQ(engine_->PutCollection("d", patch).field(), "/engine/max_collections");
}

TEST_F(BucketLifeTest, TooManyFamiliesAreRefusedBeforeTheyAreMade) {
  options_.max_column_families = 60;
  Open();
  PolicyPatch patch;
  patch.retention = 50;
  const Status refused = engine_->PutCollection("long", patch);
  EXPECT_EQ(refused.code(), StatusCode::kIncompatible) << "a pause does not help";
  EXPECT_EQ(refused.field(), "/engine/max_column_families");
  EXPECT_EQ(engine_->Collections().size(), 1u);
  patch.retention = 10;
  EXPECT_TRUE(engine_->PutCollection("short", patch).ok());
  patch.retention = 60;
  EXPECT_EQ(engine_->PutCollection("short", patch).code(), StatusCode::kIncompatible);
  for (const CollectionInfo& info : engine_->Collections()) {
    if (info.name == "short") {
      EXPECT_EQ(info.policy.retention, 10u);
    }
  }
}

TEST_F(BucketLifeTest, UnknownCollectionsAreNamed) {
  Open();
  const seendb::Play play{IdRef("u1"), IdRef("v")};
  EXPECT_EQ(engine_->RecordPlays({&play, 1}, {.collection = "none"}).status().code(),
            StatusCode::kNotFound);
  const Impression served{IdRef("u1"), IdRef("v")};
  EXPECT_EQ(engine_->RecordImpressions({&served, 1}, {.collection = "none"}).status().code(),
            StatusCode::kNotFound);
  FilterRequest request;
  request.collection = "none";
  request.user = IdRef("u1");
  EXPECT_EQ(engine_->Filter(request, &answer_).code(), StatusCode::kNotFound);
  EXPECT_EQ(engine_->Inspect(IdRef("u1"), "none").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(engine_->PutCollection("No!", {}).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
