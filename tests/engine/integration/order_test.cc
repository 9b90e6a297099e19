// The orders of steps that writes.md promises: a thread is held between two of them while
// another one does what the order is there for.

#include <chrono>
#include <future>

#include "support/engine_fixture.h"
#include "support/hold.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class OrderTest : public EngineTest {
 protected:
  static constexpr std::chrono::milliseconds kWhile{300};

  OrderTest() { options_.shards = 1; }

  // Puts a collection of days with history; its older buckets have no families yet.
  void OpenDays() {
    Open();
    PolicyPatch days;
    days.bucket = BucketSpec{BucketKind::kDays, 1};
    days.window = 10;
    days.retention = 10;
    days.history.enabled = true;
    days.history.days = 10;
    Put("days", days);
  }
  Items History(const std::string& user, const std::string& collection) {
    const std::string_view names[] = {collection};
    HistoryRequest request;
    request.user = IdRef(user);
    request.collections = names;
    HistoryPage page;
    const Status read = engine_->ReadHistory(request, &page);
    EXPECT_TRUE(read.ok()) << read.ToString();
    EXPECT_FALSE(page.degraded);
    Items items;
    for (const HistoryEntry& entry : page.entries) items.push_back(entry.item);
    return items;
  }
};

// A play leaves the ring only after its family was published: whoever looks into the ring first
// finds it in one of the two.
TEST_F(OrderTest, AFilterReadsTheRingBeforeTheFamilySet) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenDays();
  for (const std::string point : {"ring: collect", "filter: ring read", "filter: set taken"}) {
    const int64_t at_ms = clock_.NowMs() - 5 * kDayMs;
    ASSERT_EQ(Play("u1", {point}, at_ms, "days"), 1u);
    Hold hold(point);
    auto unseen = std::async(std::launch::async, [&] { return Unseen("u1", {point}, "days"); });
    ASSERT_TRUE(hold.WaitReached());
    Drain();
    hold.Release();
    EXPECT_EQ(unseen.get(), Items{}) << "held at " << point;
    clock_.Advance(kDayMs);  // another bucket without a family
  }
}

// A slot that is being drained is not in its families yet.
TEST_F(OrderTest, ASlotIsReadUntilItIsDrained) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenDays();
  ASSERT_EQ(Play("u1", {"v1"}, std::nullopt, "days"), 1u);
  Hold hold("drain: batch made");
  auto drained = std::async(std::launch::async, [&] { return engine_->Drain(); });
  ASSERT_TRUE(hold.WaitReached());
  EXPECT_EQ(Unseen("u1", {"v1"}, "days"), Items{});
  EXPECT_EQ(History("u1", "days"), Items{"v1"});
  hold.Release();
  EXPECT_TRUE(drained.get().ok());
  EXPECT_EQ(Unseen("u1", {"v1"}, "days"), Items{});
}

TEST_F(OrderTest, StagedPlaysOfTheOldestBucketCount) {
  OpenDays();
  const int64_t begin_ms = kStartMs - kStartMs % kDayMs - 9 * kDayMs;  // of the window
  ASSERT_EQ(Play("u1", {"v1"}, begin_ms, "days"), 1u);
  EXPECT_EQ(Unseen("u1", {"v1"}, "days"), Items{});
  clock_.Set(begin_ms + 10 * kDayMs - 1);
  EXPECT_EQ(Unseen("u1", {"v1"}, "days"), Items{});
  clock_.Advance(1);
  EXPECT_EQ(Unseen("u1", {"v1"}, "days"), Items{"v1"});
}

TEST_F(OrderTest, HistoryIsReadInTheRingBeforeTheFamilySet) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenDays();
  for (const std::string point : {"ring: collect history", "history: ring read"}) {
    const std::string user = "of " + point;
    const int64_t at_ms = clock_.NowMs() - 5 * kDayMs;
    ASSERT_EQ(Play(user, {"v1"}, at_ms, "days"), 1u);
    Hold hold(point);
    auto items = std::async(std::launch::async, [&] { return History(user, "days"); });
    ASSERT_TRUE(hold.WaitReached());
    Drain();
    hold.Release();
    EXPECT_EQ(items.get(), Items{"v1"}) << "held at " << point;
    clock_.Advance(kDayMs);
  }
}

// A page is read again where a drain began meanwhile; a look-up is not.
TEST_F(OrderTest, ALookUpReadsTheRingBeforeTheFamilySet) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenDays();
  for (const std::string point : {"ring: collect history", "history: ring read"}) {
    const std::string user = "of " + point;
    ASSERT_EQ(Play(user, {"v1"}, clock_.NowMs() - 5 * kDayMs, "days"), 1u);
    Hold hold(point);
    auto found = std::async(std::launch::async, [&] {
      const IdRef item("v1");
      HistoryLookup lookup;
      EXPECT_TRUE(engine_->LookupHistory(IdRef(user), "days", {&item, 1}, &lookup).ok());
      return lookup.entries.size() == 1 && lookup.entries[0].has_value();
    });
    ASSERT_TRUE(hold.WaitReached());
    Drain();
    hold.Release();
    EXPECT_TRUE(found.get()) << "held at " << point;
    clock_.Advance(kDayMs);
  }
}

// What a clear takes away between the two looks was there: its absence refutes nothing.
TEST_F(OrderTest, VerifyLooksAgainWhetherHistoryIsWhole) {
  SEENDB_NEEDS_PAUSE_POINTS();
  options_.list_limit = 16;
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  patch.fpr = 0.5;
  Put("shows", patch);
  clock_.Advance(70 * kDayMs);  // in a bucket whose history is whole from its beginning
  const Items items = Numbered("v", 200);
  ASSERT_EQ(Play("u1", items, std::nullopt, "shows"), items.size());
  Drain();
  const std::vector<IdRef> ids(items.begin(), items.end());
  FilterRequest request;
  request.collection = "shows";
  request.user = IdRef("u1");
  request.items = ids;
  request.verify = true;
  Hold hold("verify: first look");
  auto asked = std::async(std::launch::async, [&] { return engine_->Filter(request, &answer_); });
  ASSERT_TRUE(hold.WaitReached());
  const Status cleared = engine_->ClearHistory(IdRef("u1"));
  EXPECT_TRUE(cleared.ok()) << cleared.ToString();
  hold.Release();
  const Status status = asked.get();
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(answer_.refuted, 0u);
  EXPECT_TRUE(answer_.unseen.empty()) << answer_.unseen.size() << " plays were refuted";
}

// A clear looks at rows and deletes them. What a drain merges into the same row stays.
TEST_F(OrderTest, WhatIsDrainedWhileRowsAreClearedStays) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenDays();
  for (const std::string point : {"clear: timeline looked at", "clear: states looked at"}) {
    const std::string user = "of " + point;
    ASSERT_EQ(Play(user, {"v1", "v2"}, std::nullopt, "days"), 2u);
    Drain();
    clock_.Advance(1'000);
    Hold marked("clear: marked");
    auto cleared =
        std::async(std::launch::async, [&] { return engine_->ClearHistory(IdRef(user)); });
    ASSERT_TRUE(marked.WaitReached());
    clock_.Advance(1'000);
    EXPECT_EQ(Play(user, {"v1"}, std::nullopt, "days"), 1u);
    Hold drain("drain: before history");
    auto drained = std::async(std::launch::async, [&] { return engine_->Drain(); });
    ASSERT_TRUE(drain.WaitReached());
    Hold look(point);
    marked.Release();
    ASSERT_TRUE(look.WaitReached());
    drain.Release();
    drained.wait_for(kWhile);  // it may have to wait for the clear
    look.Release();
    EXPECT_TRUE(drained.get().ok());
    const Status status = cleared.get();
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(History(user, "days"), Items{"v1"}) << "held at " << point;
  }
}

// A batch of a drain names families: none of them is taken out of the set before it is written.
TEST_F(OrderTest, NoBucketIsDroppedAmidABatchOfADrain) {
  SEENDB_NEEDS_PAUSE_POINTS();
  OpenDays();
  ASSERT_EQ(Play("u1", {"v1"}, clock_.NowMs() - 9 * kDayMs, "days"), 1u);
  Hold drain("drain: batch made");
  auto drained = std::async(std::launch::async, [&] { return engine_->Drain(); });
  ASSERT_TRUE(drain.WaitReached());
  clock_.Advance(kDayMs);  // the bucket has expired meanwhile
  Hold drop("drop: unpublished");
  auto dropped = std::async(std::launch::async, [&] { return engine_->DropExpired(); });
  EXPECT_FALSE(drop.WaitReached(kWhile)) << "the batch names a bucket that is not there any more";
  drain.Release();
  EXPECT_TRUE(drop.WaitReached());
  drop.Release();
  EXPECT_TRUE(drained.get().ok());
  EXPECT_TRUE(dropped.get().ok());
  EXPECT_TRUE(engine_->Stats().problems.empty());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
