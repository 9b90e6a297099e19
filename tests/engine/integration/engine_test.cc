// The engine from outside: what was played is seen, through every stage of its life.

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST_F(EngineTest, APlayIsSeenAtOnceDrainedSealedAndReopened) {
  Open();
  EXPECT_EQ(Play("u1", {"v1", "v3"}), 2u);
  const Items asked{"v1", "v2", "v3", "v1"};
  EXPECT_EQ(Unseen("u1", asked), Items{"v2"});
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kRing);
  EXPECT_EQ(Unseen("u2", asked), (Items{"v1", "v2", "v3"}));
  Reopen();
  EXPECT_EQ(Unseen("u1", asked), Items{"v2"});
  Drain();
  EXPECT_EQ(Unseen("u1", asked), Items{"v2"});
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kPlay);
  EXPECT_EQ(engine_->Stats().ring_plays, 0u);
  const Status sealed = engine_->Seal("default", "2026-03");
  ASSERT_TRUE(sealed.ok()) << sealed.ToString();
  EXPECT_EQ(Unseen("u1", asked), Items{"v2"});
  const auto report = engine_->Inspect(IdRef("u1"));
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->buckets.size(), 1u);
  EXPECT_EQ(report->buckets[0].form, FilterForm::kSealed);
  Reopen();
  EXPECT_EQ(Unseen("u1", asked), Items{"v2"});
  EXPECT_EQ(Play("u1", {"v2"}), 1u);
  Drain();
  EXPECT_EQ(Unseen("u1", asked), Items{});
}

TEST_F(EngineTest, IntegersAndTheirTextAreOneId) {
  Open();
  const seendb::Play play{IdRef(uint64_t{77}), IdRef("123")};
  ASSERT_TRUE(engine_->RecordPlays({&play, 1}).ok());
  const IdRef items[] = {IdRef(uint64_t{123}), IdRef("0123"), IdRef("123")};
  FilterRequest request{.user = IdRef("77"), .items = items};
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_EQ(answer_.unseen, std::vector<uint32_t>{1});
}

TEST_F(EngineTest, ImpressionsCountUntilTheyAreTooMany) {
  Open();
  PolicyPatch patch;
  patch.impressions = 5;
  Put("default", patch);
  Serve("u1", {"a", "b", "c"});
  EXPECT_EQ(Unseen("u1", {"a", "b", "c", "d"}), Items{"d"});
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kImpression);
  clock_.Advance(1);
  Serve("u1", {"d", "e", "f", "a"});
  EXPECT_EQ(Unseen("u1", {"a", "b", "c", "d", "e", "f"}), Items{"b"});
  EXPECT_EQ(Unseen("u1", {"a"}, "default", kFactPlays), Items{"a"});
}

TEST_F(EngineTest, WindowRetentionAndDropping) {
  Open();
  const int64_t february = kStartMs - 30 * kDayMs;
  Play("u1", {"march"});
  EXPECT_EQ(Play("u1", {"february"}, february), 1u);
  EXPECT_EQ(Play("u1", {"ancient"}, kStartMs - 200 * kDayMs), 0u);
  EXPECT_EQ(Play("u1", {"future"}, kStartMs + 2 * kDayMs), 0u);
  Drain();
  const Items asked{"march", "february"};
  EXPECT_EQ(Unseen("u1", asked), Items{});
  EXPECT_EQ(answer_.reasons[1].bucket_index, answer_.reasons[0].bucket_index - 1);
  clock_.Advance(75 * kDayMs);  // late May: the window begins with February
  RunDue();
  EXPECT_EQ(Unseen("u1", asked), Items{});
  clock_.Advance(31 * kDayMs);  // June: with March
  RunDue();
  EXPECT_EQ(Unseen("u1", asked), Items{"february"});
  EXPECT_GE(engine_->Stats().buckets_sealed, 2u);
  clock_.Advance(80 * kDayMs);  // September: both are past retention or the window
  RunDue();
  EXPECT_EQ(Unseen("u1", asked), asked);
  EXPECT_GT(engine_->Stats().buckets_dropped, 0u);
}

TEST_F(EngineTest, ErasureForgetsEverywhereAndForGood) {
  Open();
  Play("u1", {"a"});
  Drain();
  Play("u1", {"b"});
  Serve("u1", {"c"});
  Play("u2", {"a"});
  ASSERT_TRUE(engine_->EraseUser(IdRef("u1")).ok());
  const Items asked{"a", "b", "c"};
  EXPECT_EQ(Unseen("u1", asked), asked);
  EXPECT_EQ(Unseen("u2", {"a"}), Items{});
  EXPECT_EQ(Play("u1", {"a"}, kStartMs - 5), 0u);
  Reopen();
  EXPECT_EQ(Unseen("u1", asked), asked);
  Drain();
  EXPECT_EQ(Unseen("u1", asked), asked);
  clock_.Advance(1);
  EXPECT_EQ(Play("u1", {"a"}), 1u);
  EXPECT_EQ(Unseen("u1", asked), (Items{"b", "c"}));
}

TEST_F(EngineTest, LimitExcludeAndRecord) {
  Open();
  Play("u1", {"v1", "v4"});
  const Items names = Numbered("v", 10);
  std::vector<IdRef> ids(names.begin(), names.end());
  const IdRef exclude[] = {IdRef("v0")};
  FilterRequest request{.user = IdRef("u1"), .items = ids, .exclude = exclude, .limit = 3};
  request.record = true;
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_EQ(answer_.unseen, (std::vector<uint32_t>{2, 3, 5}));
  EXPECT_EQ(answer_.examined, 6u);
  EXPECT_EQ(answer_.seen, 2u);
  EXPECT_EQ(answer_.excluded, 1u);
  EXPECT_EQ(Unseen("u1", {"v2", "v3", "v5", "v6"}), Items{"v6"});
}

TEST_F(EngineTest, ACandidateThatComesTwiceIsOne) {
  Open();
  Play("u1", {"s"});
  const IdRef items[] = {IdRef("a"), IdRef("s"), IdRef("1"),         IdRef("a"), IdRef("x"),
                         IdRef("x"), IdRef("s"), IdRef(uint64_t{1}), IdRef("b"), IdRef("c")};
  const IdRef exclude[] = {IdRef("x")};
  FilterRequest request{.user = IdRef("u1"), .items = items, .exclude = exclude, .limit = 3};
  request.record = true;
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_EQ(answer_.unseen, (std::vector<uint32_t>{0, 2, 8}));
  EXPECT_EQ(answer_.seen, 1u);
  EXPECT_EQ(answer_.excluded, 1u);
  EXPECT_EQ(answer_.duplicates, 4u);
  EXPECT_EQ(answer_.examined, 9u);
  EXPECT_EQ(Unseen("u1", {"a", "1", "b", "c"}), Items{"c"});
  EXPECT_EQ(answer_.duplicates, 0u);
}

TEST_F(EngineTest, RefusalsNameTheFieldAndChangeNothing) {
  Open();
  const seendb::Play plays[] = {{IdRef("u1"), IdRef("ok")}, {IdRef("u1"), IdRef("")}};
  const auto refused = engine_->RecordPlays(plays);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().field(), "/1/item");
  EXPECT_EQ(Unseen("u1", {"ok"}), Items{"ok"});
  EXPECT_EQ(engine_->RecordPlays(plays, {.collection = "none"}).status().code(),
            StatusCode::kNotFound);
  PolicyPatch fixed;
  fixed.window = 3;
  Play("u1", {"v1"});
  EXPECT_EQ(engine_->PutCollection("default", fixed).code(), StatusCode::kIncompatible);
}

TEST_F(EngineTest, ASecondProcessAndOtherShardsAreRefused) {
  Open();
  Seams seams;
  const auto second = Engine::Open(Path(), options_, seams);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kBusy);
  engine_.reset();
  options_.shards = 3;
  const auto other = Engine::Open(Path(), options_, seams);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().code(), StatusCode::kIncompatible);
  EXPECT_EQ(other.status().field(), "/shards");
}

TEST_F(EngineTest, ReadOnlyReadsBesideARunningEngine) {
  Open();
  Play("u1", {"a"});
  Drain();
  Play("u1", {"b"});
  Options reading = options_;
  reading.read_only = true;
  Seams seams;
  seams.clock = &clock_;
  auto reader = Engine::Open(Path(), reading, seams);
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  engine_.swap(*reader);
  EXPECT_EQ(Unseen("u1", {"a", "b", "c"}), Items{"c"});
  const seendb::Play play{IdRef("u1"), IdRef("c")};
  EXPECT_FALSE(engine_->RecordPlays({&play, 1}).ok());
  engine_.swap(*reader);
}

TEST_F(EngineTest, AFullRingIsBusyAndHealsWhenDrained) {
  options_.ring_slots = 2;
  options_.shards = 1;
  options_.slot_bytes_max = 1;
  Open();
  const Items many = Numbered("v", 300);
  Play("u1", many);
  Play("u2", many);
  std::vector<seendb::Play> plays{{IdRef("u3"), IdRef("x")}};
  const auto busy = engine_->RecordPlays(plays);
  ASSERT_FALSE(busy.ok());
  EXPECT_EQ(busy.status().code(), StatusCode::kBusy);
  EXPECT_EQ(Unseen("u2", many), Items{});
  RunDue();
  EXPECT_TRUE(engine_->RecordPlays(plays).ok());
  EXPECT_EQ(Unseen("u1", many), Items{});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
