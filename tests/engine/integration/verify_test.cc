// Filters with `verify`: where history is whole nothing is falsely called seen, where it is not all
// stays as the filters say. A budget of 0.5 makes false positives plentiful.

#include <set>

#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class VerifyTest : public EngineTest {
 protected:
  VerifyTest() { options_.list_limit = 16; }

  // One bucket a day, one day in the window unless said otherwise.
  static PolicyPatch Wrong(uint32_t window = 1) {
    PolicyPatch patch;
    patch.bucket = BucketSpec{BucketKind::kDays, 1};
    patch.window = window;
    patch.retention = 6;
    patch.fpr = 0.5;
    patch.max_future_ms = kHourMs;
    patch.history.enabled = true;
    return patch;
  }
  void Start(const PolicyPatch& patch) {
    Open();
    Put("c", patch);
  }
  static void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }
  void PlaySome(const Items& items, std::optional<int64_t> at_ms = {}) {
    EXPECT_EQ(Play("u", items, at_ms, "c"), items.size());
    Drain();
  }
  // The unseen of kItems, of plays.
  Items Ask(bool verify) {
    const std::vector<IdRef> ids(kItems.begin(), kItems.end());
    FilterRequest request;
    request.collection = "c";
    request.user = IdRef("u");
    request.items = ids;
    request.verify = verify;
    request.explain = true;
    request.facts = kFactPlays;
    Check(engine_->Filter(request, &answer_));
    EXPECT_EQ(answer_.unseen.size() + answer_.seen, kItems.size());
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(kItems[at]);
    return unseen;
  }
  // What kItems are without these.
  Items Without(const Items& played) {
    const std::set<std::string> gone(played.begin(), played.end());
    Items left;
    for (const std::string& item : kItems) {
      if (!gone.contains(item)) left.push_back(item);
    }
    return left;
  }
  void ExpectExact(const Items& played) {
    const Items claimed = Ask(false);
    EXPECT_EQ(answer_.refuted, 0u);
    const Items left = Without(played);
    EXPECT_LT(claimed.size(), left.size());  // some are falsely called seen
    EXPECT_EQ(Ask(true), left);
    EXPECT_EQ(answer_.refuted, left.size() - claimed.size());
    uint32_t said = 0;
    for (const Reason& reason : answer_.reasons) said += reason.kind == ReasonKind::kRefuted;
    EXPECT_EQ(said, answer_.refuted);
  }
  void ExpectUnchecked() {
    const Items claimed = Ask(false);
    EXPECT_EQ(Ask(true), claimed);
    EXPECT_EQ(answer_.refuted, 0u);
  }

  const Items kItems = Numbered("i", 2000);
  const Items kPlayed = Numbered("i", 300);
};

TEST_F(VerifyTest, WhereHistoryIsWholeNothingIsFalselySeen) {
  Start(Wrong());
  PlaySome(kPlayed);
  ExpectExact(kPlayed);
  clock_.Advance(kHourMs);
  Check(engine_->Seal("c", "2026-03-10"));
  ExpectExact(kPlayed);
  Reopen();
  ExpectExact(kPlayed);
}

TEST_F(VerifyTest, EveryBucketThatSaysSeenIsAsked) {
  Start(Wrong(3));
  Items played;
  for (int day = 0; day < 3; ++day) {
    Items today;
    for (size_t i = 0; i < 200; ++i) today.push_back(kItems[static_cast<size_t>(day) * 500 + i]);
    PlaySome(today);
    played.insert(played.end(), today.begin(), today.end());
    clock_.Advance(kDayMs);
  }
  clock_.Advance(-kDayMs);
  ExpectExact(played);
  // The reason given is the bucket of the play, whatever newer filters say.
  Ask(true);
  EXPECT_EQ(BucketLabel(Policy{.bucket = {BucketKind::kDays, 1}}, answer_.reasons[0].bucket_index),
            "2026-03-10");
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kPlay);
  clock_.Advance(kDayMs);  // the first leaves the window
  played.erase(played.begin(), played.begin() + 200);
  ExpectExact(played);
}

TEST_F(VerifyTest, WithALimitOnlyWhatWasExaminedCounts) {
  Start(Wrong());
  PlaySome(kPlayed);
  const std::vector<IdRef> ids(kItems.begin(), kItems.end());
  FilterRequest request;
  request.collection = "c";
  request.user = IdRef("u");
  request.items = ids;
  request.verify = true;
  request.limit = 10;
  Check(engine_->Filter(request, &answer_));
  ASSERT_EQ(answer_.unseen.size(), 10u);
  EXPECT_EQ(answer_.examined, 310u);
  EXPECT_EQ(answer_.seen, 300u);
  EXPECT_LE(answer_.refuted, 10u);
}

TEST_F(VerifyTest, StagedPlaysStand) {
  Start(Wrong());
  EXPECT_EQ(Play("u", kPlayed, std::nullopt, "c"), kPlayed.size());
  EXPECT_EQ(Ask(true), Without(kPlayed));
  EXPECT_EQ(answer_.refuted, 0u);
}

TEST_F(VerifyTest, ADeletedItemStaysSeen) {
  Start(Wrong());
  PlaySome(kPlayed);
  const std::vector<IdRef> some = {IdRef("i3"), IdRef("i5")};
  Check(engine_->DeleteHistory(IdRef("u"), "c", some));
  ExpectExact(kPlayed);
  clock_.Advance(13 * kHourMs);
  Check(engine_->DeleteHistory(IdRef("u"), "c", some));
  clock_.Advance(-13 * kHourMs);
  ExpectExact(kPlayed);
}

TEST_F(VerifyTest, ADeletedItemThatMayBeShownAgainIs) {
  PolicyPatch patch = Wrong();
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  Start(patch);
  PlaySome(kPlayed);
  const std::vector<IdRef> one = {IdRef("i299")};
  Check(engine_->DeleteHistory(IdRef("u"), "c", one));
  EXPECT_EQ(Ask(true), Without(Numbered("i", 299)));
  EXPECT_EQ(answer_.reasons[299].kind, ReasonKind::kUnseen);
}

TEST_F(VerifyTest, NothingIsRefutedBeforeHistoryIsSwitchedOn) {
  PolicyPatch patch = Wrong(2);
  patch.history.enabled = false;
  Start(patch);
  PlaySome(kPlayed);
  patch = {};
  patch.history.enabled = true;
  Put("c", patch);
  ExpectUnchecked();
  // A bucket that begins after all plays of before is whole.
  clock_.Advance(kDayMs);
  const Items later(kItems.begin() + 300, kItems.begin() + 600);
  PlaySome(later);
  Ask(true);
  EXPECT_GT(answer_.refuted, 0u);
  clock_.Advance(kDayMs);
  ExpectExact(later);
  // Switched off and on again: what was kept before tells nothing of what came between.
  patch.history.enabled = false;
  Put("c", patch);
  ExpectUnchecked();
  patch.history.enabled = true;
  Put("c", patch);
  ExpectUnchecked();
  Reopen();
  ExpectUnchecked();
}

TEST_F(VerifyTest, PlaysOfTheFutureFromBeforeItWasSwitchedOnAreKnown) {
  PolicyPatch patch = Wrong();
  patch.history.enabled = false;
  patch.max_future_ms = 30 * kHourMs;
  Start(patch);
  PlaySome(kPlayed, clock_.NowMs() + 30 * kHourMs);  // of the day after tomorrow
  patch = {};
  patch.max_future_ms = kHourMs;
  Put("c", patch);
  patch.history.enabled = true;
  Put("c", patch);
  clock_.Advance(30 * kHourMs);
  ExpectUnchecked();
}

TEST_F(VerifyTest, NothingIsRefutedInWhatWasCleared) {
  Start(Wrong());
  PlaySome(kPlayed);
  Check(engine_->ClearHistory(IdRef("u")));
  ExpectUnchecked();
  clock_.Advance(kDayMs);
  PlaySome(kPlayed);
  ExpectExact(kPlayed);
}

TEST_F(VerifyTest, NothingIsRefutedInAPauseOrJustAfterIt) {
  Start(Wrong());
  PlaySome(Numbered("i", 200));
  Check(engine_->SetRecording(IdRef("u"), true));
  PlaySome(kPlayed);
  ExpectUnchecked();
  Check(engine_->SetRecording(IdRef("u"), false));
  ExpectUnchecked();
  clock_.Advance(kDayMs);
  PlaySome(kPlayed);
  ExpectExact(kPlayed);
  clock_.Advance(kDayMs);
  Check(engine_->SetRecording(IdRef("u"), true));
  clock_.Advance(12 * kHourMs - 1);  // a moment before midnight
  PlaySome(kPlayed, clock_.NowMs() + kHourMs);
  Check(engine_->SetRecording(IdRef("u"), false));
  clock_.Advance(2 * kHourMs);
  ExpectUnchecked();
}

TEST_F(VerifyTest, NothingIsRefutedWhereEntriesWereEvicted) {
  PolicyPatch patch = Wrong();
  patch.history.max_entries = 100;
  Start(patch);
  PlaySome({kPlayed.begin(), kPlayed.begin() + 150}, kStartMs - 1);
  PlaySome({kPlayed.begin() + 150, kPlayed.end()}, kStartMs);
  ExpectExact(kPlayed);  // beyond the cap, but there
  patch = {};
  clock_.Advance(kDayMs);
  Check(engine_->SealClosed());
  clock_.Advance(-kDayMs);
  ExpectUnchecked();
}

TEST_F(VerifyTest, NothingIsRefutedWhereServedIsSeenOrWas) {
  PolicyPatch patch = Wrong();
  patch.served_is_seen = true;
  Start(patch);
  EXPECT_EQ(Serve("u", kPlayed, std::nullopt, "c"), kPlayed.size());
  Drain();
  ExpectUnchecked();
  patch = {};
  patch.served_is_seen = false;
  Put("c", patch);
  ExpectUnchecked();
  clock_.Advance(kDayMs);
  PlaySome(kPlayed);
  ExpectExact(kPlayed);
}

TEST_F(VerifyTest, NothingIsRefutedBeyondTheDaysKept) {
  PolicyPatch patch = Wrong(4);
  patch.history.days = 1;
  Start(patch);
  PlaySome(kPlayed);
  clock_.Advance(kDayMs);
  ExpectExact(kPlayed);
  clock_.Advance(kDayMs);
  ExpectUnchecked();
  Check(engine_->DropExpired());
  ExpectUnchecked();
  patch = {};
  patch.history.days = 90;  // brings nothing back
  Put("c", patch);
  ExpectUnchecked();
}

TEST_F(VerifyTest, NothingIsRefutedWhereAFilterCannotBeRead) {
  Start(Wrong(2));
  PlaySome(kPlayed);
  clock_.Advance(kDayMs);
  PlaySome(Numbered("other", 300), clock_.NowMs());
  const uint32_t shard_of_u = engine_->ShardOf(IdRef("u"));
  engine_.reset();
  {
    RawShard shard(Path(), shard_of_u);
    shard.Put("seen/c/2026-03-10", "u", "noise");
  }
  Open();
  ExpectUnchecked();
  EXPECT_TRUE(answer_.degraded);
  EXPECT_LT(Without(Ask(true)).size(), kItems.size());
}

TEST_F(VerifyTest, WithoutHistoryNothingIsChecked) {
  PolicyPatch patch = Wrong();
  patch.history.enabled = false;
  Start(patch);
  PlaySome(kPlayed);
  ExpectUnchecked();
}

TEST_F(VerifyTest, PlaysOfExactCollectionsStand) {
  PolicyPatch patch = Wrong();
  patch.representation = Representation::kExact;
  Start(patch);
  PlaySome(kPlayed);
  Check(engine_->Seal("c", "2026-03-10"));
  EXPECT_EQ(Ask(true), Without(kPlayed));
  EXPECT_EQ(answer_.refuted, 0u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
