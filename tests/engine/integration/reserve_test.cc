// Caps of filter requests, and promises to serve items as far as they leave room.

#include <atomic>
#include <thread>

#include "seendb/counts.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr std::string_view kAd[] = {"ad:1"};

class ReserveTest : public EngineTest {
 protected:
  /// Reserves items of `ad:1`, at most `n` of them a day.
  Result<Reserved> Try(const std::string& user, const Items& items, uint32_t n,
                       std::optional<int64_t> at_ms = {}, int64_t expires_ms = 60'000) {
    std::vector<IdRef> ids;
    for (const std::string& item : items) ids.emplace_back(item);
    const std::vector<CandidateGroups> groups(items.size(), CandidateGroups{.of = kAd});
    const Cap cap{.of = "ad", .n = n, .within_ms = kDayMs};
    Reserved reserved;
    const Status status = engine_->Reserve({.user = IdRef(user),
                                            .items = ids,
                                            .groups = groups,
                                            .caps = {&cap, 1},
                                            .expires_ms = expires_ms,
                                            .at_ms = at_ms},
                                           &reserved);
    return status.ok() ? Result<Reserved>(reserved) : Result<Reserved>(status);
  }
  /// The reserved ones.
  Items Reserve(const std::string& user, const Items& items, uint32_t n,
                std::optional<int64_t> at_ms = {}, int64_t expires_ms = 60'000) {
    const Result<Reserved> result = Try(user, items, n, at_ms, expires_ms);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    Items reserved;
    if (!result.ok()) return reserved;
    EXPECT_EQ(result->reserved.size() + result->refused.size(), items.size());
    for (const uint32_t at : result->reserved) reserved.push_back(items[at]);
    return reserved;
  }
  void Serve(const std::string& user, const std::string& item, std::optional<int64_t> at_ms = {}) {
    const Impression served{.user = IdRef(user), .item = IdRef(item), .at_ms = at_ms, .of = kAd};
    ASSERT_TRUE(engine_->RecordImpressions({&served, 1}).ok());
  }
  /// The unseen of `items`, all of `ad:1`, of which `n` a day may be served.
  Items Capped(const std::string& user, const Items& items, uint32_t n, bool record = false) {
    std::vector<IdRef> ids;
    for (const std::string& item : items) ids.emplace_back(item);
    const std::vector<CandidateGroups> groups(items.size(), CandidateGroups{.of = kAd});
    const Cap cap{.of = "ad", .n = n, .within_ms = kDayMs};
    const Question question{.groups = groups, .caps = {&cap, 1}};
    const Status status = engine_->Filter({.user = IdRef(user),
                                           .items = ids,
                                           .question = &question,
                                           .explain = true,
                                           .record = record},
                                          &answer_);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(answer_.examined, answer_.unseen.size() + answer_.seen + answer_.excluded);
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(items[at]);
    return unseen;
  }
  uint32_t Served(const std::string& user) {
    CountsPage page;
    EXPECT_TRUE(engine_->ReadCounts({.user = IdRef(user), .kind = "ad"}, &page).ok());
    return page.groups.empty() ? 0 : page.groups[0].by_fact[1].events[1];
  }
};

TEST_F(ReserveTest, AFilterDropsWhatTheUserHadEnoughOf) {
  Open();
  Serve("u", "v1");
  EXPECT_EQ(Capped("u", {"v1", "v2", "v3"}, 2), Items{"v2"});
  EXPECT_EQ(answer_.seen, 1u);
  EXPECT_EQ(answer_.excluded, 1u);
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kImpression);
  EXPECT_EQ(answer_.reasons[2].kind, ReasonKind::kCapped);
  EXPECT_EQ(answer_.reasons[2].group, "ad:1");
  EXPECT_EQ(Capped("u", {"v2", "v3"}, 2, true), Items{"v2"});
  EXPECT_EQ(Capped("u", {"v3", "v4"}, 2), Items{}) << "what was recorded counts";
  EXPECT_EQ(Capped("w", {"v3", "v4"}, 2), (Items{"v3", "v4"}));
  clock_.Advance(kDayMs + 1);
  EXPECT_EQ(Capped("u", {"v3", "v4"}, 2), (Items{"v3", "v4"}));
}

TEST_F(ReserveTest, PromisesCountUntilTheyEnd) {
  Open();
  EXPECT_EQ(Reserve("u", {"a1", "a2", "a3"}, 2), (Items{"a1", "a2"}));
  EXPECT_EQ(Reserve("u", {"a4"}, 2), Items{});
  EXPECT_EQ(Reserve("u", {"a4"}, 3), Items{"a4"});
  EXPECT_EQ(Capped("u", {"a5"}, 3), Items{});
  EXPECT_EQ(Served("u"), 3u);
  Reopen();
  EXPECT_EQ(Served("u"), 3u);
  clock_.Advance(59'999);
  EXPECT_EQ(Served("u"), 3u);
  clock_.Advance(1);
  EXPECT_EQ(Served("u"), 0u);
  EXPECT_EQ(Reserve("u", {"a1", "a2"}, 2), (Items{"a1", "a2"}));
}

TEST_F(ReserveTest, AnImpressionTakesThePlaceOfItsPromise) {
  Open();
  EXPECT_EQ(Reserve("u", {"a1"}, 2), Items{"a1"});
  Serve("u", "a1");
  EXPECT_EQ(Served("u"), 1u);
  EXPECT_EQ(Reserve("u", {"a2"}, 2), Items{"a2"});
  clock_.Advance(kHourMs);
  EXPECT_EQ(Served("u"), 1u) << "the other promise has ended";
}

TEST_F(ReserveTest, ARepeatPromisesTheSameAndCountsOnce) {
  Open();
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(Reserve("u", {"a1", "a2", "a3"}, 2, kStartMs), (Items{"a1", "a2"}));
    EXPECT_EQ(Served("u"), 2u);
  }
  EXPECT_EQ(Reserve("u", {"a1", "a2"}, 2, kStartMs, kHourMs), (Items{"a1", "a2"}));
  clock_.Advance(120'000);
  EXPECT_EQ(Served("u"), 2u) << "it counts as long as the longer of the two";
  EXPECT_EQ(Reserve("u", {"a1"}, 2, kStartMs + 1), Items{}) << "another promise";
}

TEST_F(ReserveTest, ManyAtOnceNeverExceedACap) {
  Open();
  constexpr uint32_t kCap = 5;
  std::atomic<size_t> promised{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string item = "a" + std::to_string(t) + "-" + std::to_string(i);
        for (int again = 0; again < 2; ++again) {  // a retry
          const auto result = Try("u", {item}, kCap, kStartMs + t * 100 + i, kDayMs);
          if (again == 0 && result.ok()) promised += result->reserved.size();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(promised, kCap);
  EXPECT_EQ(Served("u"), kCap);
}

TEST_F(ReserveTest, OfAnErasedUserIsRefused) {
  Open();
  EXPECT_EQ(Reserve("u", {"a1"}, 1, kStartMs - 10), Items{"a1"});
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  EXPECT_EQ(Served("u"), 0u);
  EXPECT_EQ(Try("u", {"a1"}, 1, kStartMs - 10).status().field(), "/at");
  EXPECT_EQ(Served("u"), 0u);
  clock_.Advance(1'000);
  EXPECT_EQ(Reserve("u", {"a2"}, 1), Items{"a2"});
}

TEST_F(ReserveTest, RefusesWhatIsMalformedAndChangesNothing) {
  Open();
  const std::string longest(kMaxIdBytes + 1, 'x');
  EXPECT_EQ(Try("u", {"a", ""}, 1).status().field(), "/items/1");
  EXPECT_EQ(Try("u", {"a", longest}, 1).status().field(), "/items/1");
  EXPECT_EQ(Try("", {"a"}, 1).status().field(), "/user");
  EXPECT_EQ(Try("u", {"a"}, 0).status().field(), "/caps/0/n");
  EXPECT_EQ(Try("u", {"a"}, 1, {}, 0).status().field(), "/expires");
  EXPECT_EQ(Try("u", {"a"}, 1, {}, kCountedForMs + 1).status().field(), "/expires");
  EXPECT_EQ(Try("u", {"a"}, 1, kStartMs + 100 * kDayMs).status().field(), "/at");
  EXPECT_EQ(Served("u"), 0u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
