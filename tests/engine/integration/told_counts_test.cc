// What an accepted event is told of beyond "accepted": it is older than the window, or its own call
// served more than the policy keeps; and why a refused one was refused.

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ToldCountsTest : public EngineTest {
 protected:
  RecordResult Served(const std::vector<Impression>& served, const std::string& collection) {
    const auto result = engine_->RecordImpressions(served, {.collection = collection});
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? *result : RecordResult();
  }
  RecordResult Played(const std::string& user, int64_t at_ms) {
    const seendb::Play play{IdRef(user), IdRef("v"), at_ms};
    const auto result = engine_->RecordPlays({&play, 1});
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? *result : RecordResult();
  }
  static std::vector<Impression> Of(std::string_view user, const Items& items) {
    std::vector<Impression> served;
    for (const std::string& item : items) served.push_back({IdRef(user), IdRef(item)});
    return served;
  }
  void PutCap(const std::string& name, uint32_t cap, bool served_is_seen = false) {
    PolicyPatch patch;
    patch.impressions = cap;
    patch.served_is_seen = served_is_seen;
    Put(name, patch);
  }
};

TEST_F(ToldCountsTest, ItemsBeyondTheCapAreToldAndForgotten) {
  Open();
  PutCap("default", 100);
  const Items items = Numbered("v", 300);
  const std::vector<Impression> served = Of("u", items);
  EXPECT_EQ(Served(served, "default").beyond_cap, 200u);
  EXPECT_EQ(Unseen("u", items), Numbered("v", 200));
  EXPECT_EQ(engine_->Stats().impressions_evicted, 200u);
}

TEST_F(ToldCountsTest, TheCapCountsDistinctItemsOfEachUser) {
  Open();
  PutCap("default", 10);
  const Items a = Numbered("a", 12), b = Numbered("b", 10);
  std::vector<Impression> served = Of("u1", a);
  for (const Impression& one : Of("u2", b)) served.push_back(one);
  for (const Impression& one : Of("u1", a)) served.push_back(one);
  EXPECT_EQ(Served(served, "default").beyond_cap, 2u);
  EXPECT_EQ(Served(Of("u3", b), "default").beyond_cap, 0u);
}

TEST_F(ToldCountsTest, ACallLargerThanAPieceIsCountedAsOne) {
  Open();
  const Items items = Numbered("v", 70'000);
  EXPECT_EQ(Served(Of("u", items), "default").beyond_cap, 69'900u);
}

TEST_F(ToldCountsTest, NothingIsForgottenWhereServedIsSeen) {
  Open();
  PutCap("kept", 5, true);
  const Items items = Numbered("v", 20);
  EXPECT_EQ(Served(Of("u", items), "kept").beyond_cap, 0u);
  EXPECT_EQ(Unseen("u", items, "kept"), Items{});
  PutCap("none", 0);
  EXPECT_EQ(Served(Of("u", items), "none").beyond_cap, 20u);
}

TEST_F(ToldCountsTest, AFilterThatRecordsTellsToo) {
  Open();
  PutCap("default", 3);
  const Items items = Numbered("v", 8);
  std::vector<IdRef> ids(items.begin(), items.end());
  FilterRequest request;
  request.user = IdRef("u");
  request.items = ids;
  request.record = true;
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_EQ(answer_.beyond_cap, 5u);
  request.record = false;
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_EQ(answer_.beyond_cap, 0u);
}

TEST_F(ToldCountsTest, AcceptedEventsOlderThanTheWindowAreTold) {
  Open();  // window 4 months, retention 6; it is the 10th of March
  const int64_t old_ms = kStartMs - 130 * kDayMs;
  const RecordResult played = Played("u", old_ms);
  EXPECT_EQ(played.accepted, 1u);
  EXPECT_EQ(played.outside_window, 1u);
  EXPECT_EQ(Unseen("u", {"v"}), Items{"v"});
  EXPECT_FALSE(answer_.degraded);
  EXPECT_EQ(Played("u", kStartMs - 90 * kDayMs).outside_window, 0u);
  const Impression late{IdRef("u"), IdRef("w"), old_ms};
  EXPECT_EQ(Served({late}, "default").outside_window, 1u);
}

TEST_F(ToldCountsTest, ATimeInSecondsIsNamed) {
  Open();
  const RecordResult seconds = Played("u", kStartMs / 1'000);
  EXPECT_EQ(seconds.accepted, 0u);
  EXPECT_EQ(seconds.refused_by[static_cast<size_t>(RefusalReason::kSeconds)], 1u);
  ASSERT_EQ(seconds.refusals.size(), 1u);
  const std::string_view why = seconds.refusals[0].status.message();
  EXPECT_NE(why.find("looks like seconds: `at` is milliseconds"), std::string_view::npos) << why;
  const RecordResult years_ago = Played("u", kStartMs / 1'000 - 3 * 365 * 86'400);
  EXPECT_EQ(years_ago.refused_by[static_cast<size_t>(RefusalReason::kSeconds)], 1u);
  for (const int64_t at_ms : {int64_t{1}, int64_t{946'684'799}, kStartMs / 500}) {
    const RecordResult old = Played("u", at_ms);
    EXPECT_EQ(old.refused_by[static_cast<size_t>(RefusalReason::kTooOld)], 1u) << at_ms;
    EXPECT_EQ(old.refusals[0].status.message().find("seconds"), std::string_view::npos) << at_ms;
  }
}

TEST_F(ToldCountsTest, RefusalsAreCountedByReason) {
  Open();
  const auto by = [](const RecordResult& result, RefusalReason reason) {
    return result.refused_by[static_cast<size_t>(reason)];
  };
  EXPECT_EQ(by(Played("u", kStartMs + 400 * kDayMs), RefusalReason::kInFuture), 1u);
  Play("u", {"v"});
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  EXPECT_EQ(by(Played("u", kStartMs), RefusalReason::kErased), 1u);
  Play("w", {"v"});
  ASSERT_TRUE(engine_->ClearHistory(IdRef("w"), {.filter = true}).ok());
  EXPECT_EQ(by(Played("w", kStartMs), RefusalReason::kCleared), 1u);
  EXPECT_EQ(RefusalReasonName(RefusalReason::kSeconds), "seconds");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
