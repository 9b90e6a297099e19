// Two items of one fingerprint: filters take one for the other; `verify` asks history about plays,
// and the ids that impressions keep about impressions.

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using test::kOtherTwin;
using test::kTwin;

class TwinsTest : public EngineTest {
 protected:
  void Start(Representation representation = Representation::kBloom, bool history = true,
             bool ids = false) {
    Open();
    PolicyPatch patch;
    patch.representation = representation;
    patch.history.enabled = history;
    patch.impression_ids = ids;
    Put("c", patch);
  }
  // Which of the two are unseen, with or without `verify`.
  Items Ask(bool verify, uint8_t facts = kFactsAll) {
    const std::vector<IdRef> ids{IdRef(kTwin), IdRef(kOtherTwin)};
    FilterRequest request;
    request.collection = "c";
    request.user = IdRef("u");
    request.items = ids;
    request.verify = verify;
    request.explain = true;
    request.facts = facts;
    const Status asked = engine_->Filter(request, &answer_);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    EXPECT_FALSE(answer_.degraded);
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(at == 0 ? kTwin : kOtherTwin);
    return unseen;
  }
  // Of the two the first was played, and only `verify` tells them apart.
  void ExpectToldApart() {
    EXPECT_EQ(Ask(false), Items{});
    EXPECT_EQ(Ask(true), Items{kOtherTwin});
    EXPECT_EQ(answer_.refuted, 1u);
    EXPECT_EQ(answer_.reasons[1].kind, ReasonKind::kRefuted);
    EXPECT_EQ(BucketLabel(Policy{}, answer_.reasons[1].bucket_index), "2026-03");
    EXPECT_NE(answer_.reasons[0].kind, ReasonKind::kUnseen);
  }
};

TEST_F(TwinsTest, InTheRing) {
  Start();
  Play("u", {kTwin}, std::nullopt, "c");
  ExpectToldApart();
}

TEST_F(TwinsTest, InAList) {
  Start();
  Play("u", {kTwin}, std::nullopt, "c");
  Drain();
  ExpectToldApart();
}

TEST_F(TwinsTest, InAnExactCollection) {
  Start(Representation::kExact);
  Play("u", {kTwin}, std::nullopt, "c");
  Play("u", Numbered("other", 1000), std::nullopt, "c");
  Drain();
  ExpectToldApart();
  Reopen();
  ExpectToldApart();
}

TEST_F(TwinsTest, BothPlayedAreBothSeen) {
  Start();
  Play("u", {kTwin}, std::nullopt, "c");
  Drain();
  Play("u", {kOtherTwin}, std::nullopt, "c");
  EXPECT_EQ(Ask(true), Items{});
  Drain();
  EXPECT_EQ(Ask(true), Items{});
}

TEST_F(TwinsTest, PlaysOfAPauseAreBelieved) {
  Start();
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  Play("u", {kTwin}, std::nullopt, "c");
  EXPECT_EQ(Ask(true), Items{}) << "history can't tell";
  Drain();
  EXPECT_EQ(Ask(true), Items{});
}

TEST_F(TwinsTest, WithoutHistoryTheFingerprintDecides) {
  Start(Representation::kBloom, false);
  Play("u", {kTwin}, std::nullopt, "c");
  EXPECT_EQ(Ask(true), Items{});
}

TEST_F(TwinsTest, OfServedItemsTheIdsDecide) {
  Start(Representation::kBloom, true, true);
  Serve("u", {kTwin}, std::nullopt, "c");
  EXPECT_EQ(Ask(false), Items{});
  EXPECT_EQ(Ask(true), Items{kOtherTwin});
  EXPECT_EQ(answer_.refuted, 1u);
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kImpression);
  EXPECT_EQ(answer_.reasons[1].kind, ReasonKind::kRefutedImpression);
}

TEST_F(TwinsTest, OfServedItemsWithoutIdsTheFingerprintDecides) {
  Start();
  Serve("u", {kTwin}, std::nullopt, "c");
  EXPECT_EQ(Ask(true), Items{});
  EXPECT_EQ(answer_.reasons[1].kind, ReasonKind::kImpression);
}

TEST_F(TwinsTest, OneServedAndTheOtherPlayedAreBothSeen) {
  Start(Representation::kBloom, true, true);
  Serve("u", {kTwin}, std::nullopt, "c");
  Play("u", {kOtherTwin}, std::nullopt, "c");
  EXPECT_EQ(Ask(true), Items{});
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kImpression);
  EXPECT_EQ(answer_.reasons[1].kind, ReasonKind::kRing);
  Drain();
  EXPECT_EQ(Ask(true), Items{});
  EXPECT_EQ(answer_.reasons[1].kind, ReasonKind::kPlay);
  EXPECT_EQ(Ask(true, kFactPlays), Items{kTwin});
}

TEST_F(TwinsTest, ServedAgainAfterItsTwinWasDeletedFromHistory) {
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  patch.impression_ids = true;
  Put("c", patch);
  Play("u", {kOtherTwin}, std::nullopt, "c");
  const std::vector<IdRef> deleted{IdRef(kOtherTwin)};
  clock_.Advance(1);
  ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "c", deleted).ok());
  clock_.Advance(1);
  Serve("u", {kTwin}, std::nullopt, "c");
  EXPECT_EQ(Ask(true), Items{kOtherTwin});
}

TEST_F(TwinsTest, ByAnotherKeyTheyAreNone) {
  options_.item_hash_key = {1};
  Start();
  Play("u", {kTwin}, std::nullopt, "c");
  EXPECT_EQ(Ask(false), Items{kOtherTwin});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
