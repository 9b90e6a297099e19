// Single decisions of a lane, and what a process notices of its lanes.

#include "admission/lane.h"

#include <deque>

#include <gtest/gtest.h>

#include "admission/admission.h"

namespace seendb::admission::SEENDB_TEST_FILE {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class LaneTest : public testing::Test {
 protected:
  ~LaneTest() override {
    for (Entry& entry : entries_) lane_->Remove(&entry);
  }

  Entry* New(Class cls = Class::kRead, Priority priority = Priority::kNormal) {
    Entry& entry = entries_.emplace_back();
    entry.ticket.cls = cls;
    entry.ticket.priority = priority;
    entry.ticket.route = cls == Class::kStream ? 2 : 1;
    entry.ticket.first_byte = now_;
    return &entry;
  }
  Verdict Come(Entry* entry) {
    const Verdict verdict = lane_->Head(entry, now_);
    return verdict.admitted() ? lane_->Complete(entry, now_, now_) : verdict;
  }
  /// Takes and runs one that costs so long.
  Entry* RunOne(Duration took = milliseconds(1)) {
    const Lane::Turn turn = lane_->Take(now_);
    if (turn.entry == nullptr || !turn.verdict.admitted()) return turn.entry;
    now_ += took;
    lane_->Done(turn.entry, took, now_);
    return turn.entry;
  }
  /// Twice as much as can be done, of 1 ms each, for so long.
  void Overload(Duration length) {
    for (const Time until = now_ + length; now_ < until;) {
      Come(New());
      Come(New());
      RunOne();
    }
  }

  Time now_ = Time(seconds(1'000));
  std::deque<Entry> entries_;
  Admission admission_;
  Lane* lane_ = admission_.AddLane({.name = "io0"});
};

TEST_F(LaneTest, ARefusalWhoseThreadDidNotRunMakesNothingCheap) {
  Overload(seconds(1));
  for (int i = 0; i < 1'000; ++i) {  // one in ten is interrupted for 5 ms
    lane_->SpentRefusing(i % 10 == 0 ? milliseconds(5) : microseconds(20), Duration(0));
  }
  EXPECT_FALSE(lane_->CheapRequests()) << "of a millisecond, beside refusals of 20 us";
  for (int i = 0; i < 1'000; ++i) lane_->SpentRefusing(microseconds(400), Duration(0));
  EXPECT_TRUE(lane_->CheapRequests());
}

TEST_F(LaneTest, ReadingHasAQuarterOfTheTimeInAFloodAndForCheapRequests) {
  Overload(seconds(1));
  for (int i = 0; i < 1'000; ++i) lane_->SpentRefusing(microseconds(20), Duration(0));
  EXPECT_EQ(lane_->IntakeShare(/*flooded=*/false), lane_->settings().intake_share);
  EXPECT_EQ(lane_->IntakeShare(/*flooded=*/true), .25);
  for (int i = 0; i < 1'000; ++i) lane_->SpentRefusing(microseconds(400), Duration(0));
  EXPECT_EQ(lane_->IntakeShare(/*flooded=*/false), .25);
}

TEST_F(LaneTest, FewCallersWaitInsteadOfBeingRefused) {
  lane_->SetCallers(101);  // of 1 ms each: more than 100 ms
  Overload(seconds(1));
  EXPECT_LT(lane_->counters().work_ns.load(), Duration(milliseconds(13)).count());
  lane_->SetCallers(99);
  Overload(milliseconds(50));
  EXPECT_GT(lane_->counters().work_ns.load(), Duration(milliseconds(55)).count());
  EXPECT_EQ(lane_->counters().episodes, 1u);
}

TEST_F(LaneTest, FewCallersOfTwoTenantsKeepToTheirShares) {
  lane_->SetCallers(50);
  for (const Time until = now_ + seconds(1); now_ < until; RunOne()) {
    for (const uint64_t key : {1u, 2u}) {
      Entry* const entry = New();
      entry->ticket.tenant_key = key;
      Come(entry);
    }
  }
  EXPECT_LT(lane_->counters().work_ns.load(), Duration(milliseconds(13)).count());
}

TEST_F(LaneTest, AnEmptyQueueRefusesNothing) {
  Overload(seconds(1));
  ASSERT_TRUE(lane_->counters().overloaded);
  while (RunOne() != nullptr) {
  }
  EXPECT_TRUE(Come(New(Class::kRead, Priority::kLow)).admitted());
}

TEST_F(LaneTest, OverloadedItHoldsAboutItsTarget) {
  Overload(seconds(1));
  const int64_t work = lane_->counters().work_ns.load();
  EXPECT_GT(work, Duration(milliseconds(8)).count());
  EXPECT_LT(work, Duration(milliseconds(13)).count());
  EXPECT_NEAR(lane_->counters().load.load(), 2, .3);
  EXPECT_EQ(lane_->counters().episodes, 1u);
}

TEST_F(LaneTest, ProbesAreNeverRefusedNorCounted) {
  Overload(seconds(1));
  const double load = lane_->counters().load.load();
  for (int i = 0; i < 1'000; ++i) {
    Entry* const probe = New(Class::kProbe);
    EXPECT_TRUE(lane_->Head(probe, now_).admitted());
  }
  EXPECT_EQ(lane_->counters().load.load(), load);
}

TEST_F(LaneTest, ASecondTryCountsOneStepLower) {
  Overload(seconds(1));
  Entry* const again = New(Class::kRead, Priority::kNormal);
  again->ticket.retried = true;
  Entry* const first = New(Class::kRead, Priority::kHigh);
  EXPECT_FALSE(Come(again).admitted());
  EXPECT_TRUE(Come(first).admitted());
  EXPECT_EQ(lane_->counters().retried, 1u);
}

TEST_F(LaneTest, WhatCannotBeAnsweredInTimeIsRefusedAtTheHeadAndInTheQueue) {
  for (int i = 0; i < 30; ++i) Come(New());
  RunOne();
  Entry* const hasty = New();
  hasty->ticket.timeout = milliseconds(5);
  EXPECT_EQ(Come(hasty).reason, Reason::kTimeout);
  while (RunOne() != nullptr) {
  }
  Entry* const waits = New();
  waits->ticket.timeout = milliseconds(20);
  ASSERT_TRUE(Come(waits).admitted());
  now_ += milliseconds(30);
  const Lane::Turn turn = lane_->Take(now_);
  EXPECT_EQ(turn.entry, waits);
  EXPECT_EQ(turn.verdict.reason, Reason::kTimeout);
  EXPECT_TRUE(lane_->empty());
}

TEST_F(LaneTest, AfterAStallTheNewestOfThoseWithoutATimeoutComeFirst) {
  Entry* const oldest = New();
  Entry* const newest = New();
  Come(oldest);
  Come(newest);
  EXPECT_EQ(lane_->Take(now_ + milliseconds(300)).entry, newest);
  EXPECT_EQ(lane_->Take(now_ + milliseconds(300)).entry, oldest);
}

TEST_F(LaneTest, StreamsWaitInOrderAndAreNeverRefused) {
  Overload(seconds(1));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(lane_->Complete(New(Class::kStream), now_, now_).admitted());
  }
  EXPECT_EQ(lane_->counters().refused[1][1][1], 0u);
}

TEST_F(LaneTest, StreamsGetATenthOfTheTimeUnderOverload) {
  Overload(seconds(1));
  int pieces = 0;
  for (int i = 0; i < 50; ++i) lane_->Complete(New(Class::kStream), now_, now_);
  for (int run = 0; run < 1'000; ++run) {
    Come(New());
    Come(New());
    Entry* const entry = RunOne();
    if (entry == nullptr || entry->ticket.cls != Class::kStream) continue;
    ++pieces;
    lane_->Complete(entry, now_, now_);
  }
  EXPECT_GE(pieces, 90);
  EXPECT_LE(pieces, 120);
}

TEST_F(LaneTest, WhatIsRemovedLeavesNothingBehind) {
  Entry* const reading = New();
  Entry* const waiting = New();
  reading->ticket.tenant_key = waiting->ticket.tenant_key = 7;
  reading->ticket.bytes = waiting->ticket.bytes = 1'000;
  ASSERT_TRUE(lane_->Head(reading, now_).admitted());
  ASSERT_TRUE(Come(waiting).admitted());
  lane_->Remove(reading);
  lane_->Remove(waiting);
  lane_->Remove(waiting);
  EXPECT_TRUE(lane_->empty());
  EXPECT_EQ(lane_->counters().work_ns, 0);
  EXPECT_EQ(lane_->counters().gone, 1u);
  EXPECT_EQ(RunOne(), nullptr);
}

TEST_F(LaneTest, ATenantThatAsksTooOftenIsToldWhenToComeAgain) {
  Tenant* const tenant = admission_.tenants().Named("a", {.requests_per_s = 2}, 1);
  for (int i = 0; i < 2; ++i) {
    Entry* const entry = New();
    entry->ticket.tenant = tenant;
    EXPECT_TRUE(Come(entry).admitted());
  }
  Entry* const third = New();
  third->ticket.tenant = tenant;
  const Verdict verdict = Come(third);
  EXPECT_EQ(verdict.reason, Reason::kRate);
  EXPECT_EQ(verdict.retry_after, milliseconds(500));
}

TEST_F(LaneTest, HalfOfTheMemoryIsLeftForOthers) {
  Settings settings;
  settings.tenant_bytes = 1'000;
  admission_.Set(settings);
  Entry* const alone = New();
  alone->ticket.tenant_key = 1;
  alone->ticket.bytes = 5'000;
  EXPECT_TRUE(lane_->Head(alone, now_).admitted()) << "nobody else is there";
  Entry* const other = New();
  other->ticket.tenant_key = 2;
  other->ticket.bytes = 900;
  EXPECT_TRUE(lane_->Head(other, now_).admitted());
  Entry* const more = New();
  more->ticket.tenant_key = 1;
  more->ticket.bytes = 1;
  EXPECT_EQ(lane_->Head(more, now_).reason, Reason::kMemory);
}

TEST_F(LaneTest, RetryAfterIsHalfOfTheEpisodeAndUpToTwiceThat) {
  Overload(seconds(9));
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    const Verdict verdict = Come(New());
    if (verdict.admitted()) continue;
    ++refused;
    EXPECT_GE(verdict.retry_after, seconds(4));
    EXPECT_LE(verdict.retry_after, seconds(10));
  }
  EXPECT_GT(refused, 10);
}

TEST_F(LaneTest, SwitchedOffItRefusesNothing) {
  Settings settings;
  settings.enabled = false;
  admission_.Set(settings);
  Overload(seconds(1));
  EXPECT_EQ(lane_->counters().AllRefused(), 0u);
  EXPECT_GT(lane_->size(), 500u);
}

TEST_F(LaneTest, APoolsWorkIsDoneByItsThreads) {
  Lane* const pool = admission_.AddLane({.name = "engine", .disk = true, .parallel = 8});
  for (int i = 0; i < 16; ++i) pool->Complete(New(), now_, now_);
  EXPECT_EQ(pool->counters().work_ns, 2 * Duration(CostModel::kColdCost).count());
  for (int i = 0; i < 16; ++i) EXPECT_NE(pool->Take(now_).entry, nullptr);
  for (Entry& entry : entries_) pool->Remove(&entry);
}

TEST_F(LaneTest, ALaneUnderItsPoolsLockTakesUpNewSettings) {
  Lane* const pool = admission_.AddLane({.name = "engine", .disk = true, .parallel = 8});
  Settings settings;
  settings.enabled = false;
  admission_.Set(settings);
  Mutex of_pool{LockRank::kLeaf};
  const MutexLock lock(of_pool);
  EXPECT_EQ(pool->Take(now_).entry, nullptr);
  EXPECT_FALSE(pool->settings().enabled);
}

TEST_F(LaneTest, AnEpisodeIsToldOnceAtItsBeginAndItsEnd) {
  int began = 0, ended = 0;
  Admission::Change last;
  const auto tick = [&] {
    const Admission::Change change = admission_.Tick(now_);
    began += change.began ? 1 : 0;
    ended += change.ended ? 1 : 0;
    if (change.ended) last = change;
  };
  for (int i = 0; i < 10; ++i) {
    Overload(milliseconds(200));
    tick();
  }
  EXPECT_TRUE(admission_.Overloaded(now_));
  EXPECT_EQ(began, 1);
  EXPECT_EQ(ended, 0);
  for (int i = 0; i < 10; ++i) {  // nothing comes any more
    now_ += milliseconds(200);
    tick();
  }
  EXPECT_FALSE(admission_.Overloaded(now_));
  EXPECT_EQ(began, 1);
  EXPECT_EQ(ended, 1);
  EXPECT_GT(last.refused, 100u);
  EXPECT_GT(last.answered, 1'000u);
  EXPECT_GT(last.lasted, seconds(1));
}

TEST_F(LaneTest, TheLoadOfAllIsTheMeanOfTheLoopsOrThatOfAPool) {
  admission_.AddLane({.name = "io1"});
  Overload(seconds(1));
  EXPECT_NEAR(admission_.Load(false, now_), 1, .2);
  EXPECT_NEAR(admission_.MaxLoad(now_), 2, .3);
  Lane* const pool = admission_.AddLane({.name = "engine", .disk = true, .parallel = 1});
  for (int i = 0; i < 2'000; ++i) {
    Entry* const entry = New();
    pool->Complete(entry, now_, now_);
    pool->Remove(entry);
  }
  EXPECT_NEAR(admission_.Load(false, now_), 4, .2);
}

}  // namespace
}  // namespace seendb::admission::SEENDB_TEST_FILE
