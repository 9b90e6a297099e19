// Events whose times lie ahead of the clock, of users who are erased and items that are deleted.

#include <map>
#include <string>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class FutureTimesTest : public EngineTest {
 protected:
  static constexpr int64_t kAheadMs = kStartMs + 20 * kHourMs;

  void Start(bool history) {
    Open();
    PolicyPatch policy;
    policy.bucket = BucketSpec{BucketKind::kDays, 1};
    policy.history.enabled = history;
    policy.history.deleted_items = DeletedItems::kRecommendAgain;
    Put("c", policy);
  }
  int64_t Erase() {
    Erasure erasure;
    const Status erased = engine_->EraseUser(IdRef("u"), {}, &erasure);
    const int64_t until_ms = erasure.until_ms;
    EXPECT_TRUE(erased.ok()) << erased.ToString();
    const Result<UserReport> report = engine_->Inspect(IdRef("u"));
    EXPECT_TRUE(report.ok() && report->erased_at_ms == until_ms);
    return until_ms;
  }
  // Plays up to it are refused, later ones are taken.
  void ExpectRefusedUntil(int64_t until_ms) {
    EXPECT_EQ(Play("u", {"v1"}, until_ms, "c"), 0u);
    EXPECT_EQ(Unseen("u", {"v1"}, "c"), Items{"v1"});
    clock_.Set(until_ms);
    EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 0u);
    clock_.Advance(1);
    EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  }
  // What the list has.
  std::map<std::string, int64_t> Times(const std::string& user) {
    HistoryPage page;
    const Status read = engine_->ReadHistory({IdRef(user), {}, 100, {}}, &page);
    EXPECT_TRUE(read.ok()) << read.ToString();
    std::map<std::string, int64_t> times;
    for (const HistoryEntry& entry : page.entries) times[entry.item] = entry.at_ms;
    return times;
  }
  void Delete(const std::string& item) {
    const IdRef id(item);
    const Status deleted = engine_->DeleteHistory(IdRef("u"), "c", {&id, 1});
    ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  }
};

TEST_F(FutureTimesTest, ADeliveryAfterTheErasureIsRefused) {
  for (const bool drained : {false, true}) {
    engine_.reset();
    std::filesystem::remove_all(Path());
    clock_.Set(kStartMs);
    Start(true);
    EXPECT_EQ(Play("u", {"v1"}, kAheadMs, "c"), 1u);
    EXPECT_EQ(Play("u", {"v2"}, kStartMs, "c"), 1u);
    if (drained) Drain();
    EXPECT_EQ(Erase(), kAheadMs);
    ExpectRefusedUntil(kAheadMs);
  }
}

TEST_F(FutureTimesTest, SoIsOneOfWhatWasServed) {
  Start(false);
  EXPECT_EQ(Serve("u", {"v1"}, kAheadMs, "c"), 1u);
  EXPECT_EQ(Erase(), kAheadMs);
  EXPECT_EQ(Serve("u", {"v1"}, kAheadMs, "c"), 0u);
  EXPECT_EQ(Unseen("u", {"v1"}, "c"), Items{"v1"});
}

// Only the bucket is known: the day after, of which max_future reaches the first half.
TEST_F(FutureTimesTest, WithoutHistoryABucketTells) {
  Start(false);
  EXPECT_EQ(Play("u", {"v1"}, kAheadMs, "c"), 1u);
  EXPECT_EQ(Erase(), kStartMs + kDayMs);
  EXPECT_EQ(Play("u", {"v1"}, kAheadMs, "c"), 0u);
  clock_.Advance(kDayMs + 1);
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  EXPECT_EQ(Play("u", {"v1"}, clock_.NowMs() + 20 * kHourMs, "c"), 1u);
  Drain();
  EXPECT_EQ(Erase(), clock_.NowMs() + kDayMs);
}

TEST_F(FutureTimesTest, AtMostMaxFuture) {
  Start(true);
  EXPECT_EQ(Play("u", {"v1"}, kAheadMs, "c"), 1u);
  clock_.Advance(-10 * kDayMs);
  EXPECT_EQ(Erase(), kStartMs - 9 * kDayMs);
}

TEST_F(FutureTimesTest, ElseAnErasureIsOfThePresent) {
  Start(true);
  EXPECT_EQ(Play("u", {"v1"}, kStartMs, "c"), 1u);
  EXPECT_EQ(Play("other", {"v1"}, kAheadMs, "c"), 1u);
  EXPECT_EQ(Erase(), kStartMs);
  ExpectRefusedUntil(kStartMs);
}

TEST_F(FutureTimesTest, ADeletedItemThatIsPlayedAnewIsSeen) {
  Start(true);
  EXPECT_EQ(Play("u", {"v1", "v2"}, kAheadMs, "c"), 2u);
  Delete("v1");
  Delete("v2");
  EXPECT_EQ(Unseen("u", {"v1", "v2"}, "c"), (Items{"v1", "v2"}));
  clock_.Advance(kHourMs);
  EXPECT_EQ(Play("u", {"v2"}, kStartMs - kHourMs, "c"), 1u) << "late: of before the deletion";
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  EXPECT_EQ(Unseen("u", {"v1", "v2"}, "c"), Items{"v2"});
  Drain();
  Reopen();
  EXPECT_EQ(Unseen("u", {"v1", "v2"}, "c"), Items{"v2"});
}

// The deletion reaches as far as the play it deletes. One that came later, of a time between, is
// recorded right behind it: it is in the list.
TEST_F(FutureTimesTest, APlayThatADeletionWouldHideIsInTheList) {
  Start(true);
  EXPECT_EQ(Play("u", {"v1", "v2"}, kAheadMs, "c"), 2u);
  Delete("v1");
  Delete("v2");
  EXPECT_EQ(Times("u"), (std::map<std::string, int64_t>{}));
  clock_.Advance(kHourMs);
  EXPECT_EQ(Play("u", {"v1"}, kAheadMs, "c"), 1u) << "the deleted play, delivered again";
  EXPECT_EQ(Play("u", {"v1"}, kStartMs, "c"), 1u) << "late: of before the deletion";
  EXPECT_EQ(Times("u"), (std::map<std::string, int64_t>{}));
  const std::map<std::string, int64_t> behind = {{"v1", kAheadMs + 1}, {"v3", clock_.NowMs()}};
  for (const bool again : {false, true}) {
    EXPECT_EQ(Play("u", {"v1", "v3"}, kStartMs + kHourMs, "c"), 2u) << again;
    EXPECT_EQ(Play("other", {"v1"}, kStartMs + kHourMs, "c"), 1u);
    EXPECT_EQ(Times("u"), behind);
    EXPECT_EQ(Times("other"), (std::map<std::string, int64_t>{{"v1", kStartMs + kHourMs}}));
    EXPECT_EQ(Unseen("u", {"v1", "v2"}, "c"), Items{"v2"});
    Drain();
    Reopen();
  }
  EXPECT_EQ(Times("u"), behind);
  EXPECT_EQ(Play("u", {"v1"}, kAheadMs + 9, "c"), 1u);
  EXPECT_EQ(Times("u").at("v1"), kAheadMs + 9);
  Delete("v1");
  EXPECT_EQ(Play("u", {"v1"}, clock_.NowMs() + 1, "c"), 1u);
  EXPECT_EQ(Times("u").at("v1"), kAheadMs + 10);
}

// Neither enters the list.
TEST_F(FutureTimesTest, ServedAndPausedItemsKeepTheirTime) {
  Start(true);
  EXPECT_EQ(Play("u", {"v1"}, kAheadMs, "c"), 1u);
  Delete("v1");
  clock_.Advance(kHourMs);
  EXPECT_EQ(Serve("u", {"v1"}, std::nullopt, "c"), 1u);
  ASSERT_TRUE(engine_->SetRecording(IdRef("u"), true).ok());
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  EXPECT_EQ(Times("u"), (std::map<std::string, int64_t>{}));
  EXPECT_EQ(Unseen("u", {"v1"}, "c"), Items{}) << "it was played anew";
}

TEST_F(FutureTimesTest, AnErasureEndsIt) {
  Start(true);
  EXPECT_EQ(Play("u", {"v1"}, kAheadMs, "c"), 1u);
  Delete("v1");
  EXPECT_EQ(Erase(), kAheadMs);
  clock_.Set(kAheadMs);
  clock_.Advance(1);
  EXPECT_EQ(Play("u", {"v1"}, std::nullopt, "c"), 1u);
  EXPECT_EQ(Times("u"), (std::map<std::string, int64_t>{{"v1", kAheadMs + 1}}));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
