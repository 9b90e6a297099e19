// How far replicas are, and who waits for them.

#include "replica/progress.h"

#include <gtest/gtest.h>

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

using cluster::ReplicaState;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int64_t kNow = 1'773'144'000'000;
constexpr milliseconds kBehind{cluster::kBehindMost};
const Time kBegin = steady_clock::now();

class ProgressTest : public ::testing::Test {
 protected:
  void Await(uint32_t partition, int64_t next_offset, Time deadline = Time::max()) {
    progress_.Await(partition, next_offset, deadline,
                    [this](bool there) { (there ? came_ : ended_) += 1; });
  }
  cluster::ReplicaReport Report(uint32_t partition, milliseconds at = milliseconds(0),
                                int64_t now_ms = kNow) {
    return progress_.Report(now_ms, kBegin + at).at(partition);
  }
  ReplicaState State(uint32_t partition, milliseconds at = milliseconds(0)) {
    return Report(partition, at).state;
  }
  /// It serves: all that was in the log at `at` is applied.
  void Serve(uint32_t partition, milliseconds at = milliseconds(0)) {
    progress_.Hold(partition, kBegin + at);
    progress_.Begin(partition, 0, 0);
    progress_.Resume(partition);
    progress_.Advance(partition, 1, kNow, kBegin + at);
    progress_.NoteEnd(partition, 1, kBegin + at);
  }
  Progress progress_;
  int came_ = 0, ended_ = 0;
};

TEST_F(ProgressTest, AReplicaServesOnceItHasWhatWasInTheLogAfterItsOpening) {
  progress_.SetFetching(3, true);
  EXPECT_EQ(State(3), ReplicaState::kFetching);
  progress_.Hold(3, kBegin);
  EXPECT_EQ(State(3), ReplicaState::kCatchingUp);
  progress_.NoteEnd(3, 9, kBegin);  // how far it is is not known yet
  progress_.Begin(3, 7, 0);
  progress_.Resume(3);
  progress_.NoteEnd(3, 8, kBegin - milliseconds(1));
  progress_.NoteEnd(3, 9, kBegin + milliseconds(5));
  progress_.Advance(3, 8, kNow - 10);
  EXPECT_EQ(State(3), ReplicaState::kCatchingUp);
  EXPECT_EQ(Report(3).next_offset, 8);
  EXPECT_EQ(Report(3).behind_ms, 10);  // by the newest applied record
  progress_.Advance(3, 9, kNow - 9);
  EXPECT_EQ(State(3, milliseconds(6)), ReplicaState::kServing);
  EXPECT_EQ(Report(3, milliseconds(6)).behind_ms, 1);
}

// Nothing happens, and nobody ticks: that is no lag.
TEST_F(ProgressTest, SilenceIsNoLag) {
  Serve(0);
  for (int64_t s = 1; s <= 60; ++s) {
    const milliseconds now(s * 1'000);
    progress_.NoteEnd(0, 1, kBegin + now - milliseconds(400));
    EXPECT_EQ(State(0, now), ReplicaState::kServing);
    EXPECT_EQ(Report(0, now).behind_ms, 400);
    EXPECT_FALSE(Report(0, now).cut_off);
  }
}

TEST_F(ProgressTest, AnEndThatNobodyCouldAskForIsNotKnown) {
  Serve(0);
  EXPECT_EQ(State(0, kBehind), ReplicaState::kServing);
  EXPECT_FALSE(Report(0, kBehind).cut_off);
  const milliseconds late = kBehind + milliseconds(1);
  EXPECT_EQ(State(0, late), ReplicaState::kBehind);
  EXPECT_TRUE(Report(0, late).cut_off);
  EXPECT_EQ(Report(0, late).behind_ms, late.count());
  const auto standings = progress_.Standings(kBegin + late);
  EXPECT_EQ(standings, (std::vector<Progress::Standing>{{0, ReplicaState::kBehind, true}}));
  progress_.NoteEnd(0, 1, kBegin + late);
  EXPECT_EQ(State(0, late), ReplicaState::kServing);
  EXPECT_FALSE(Report(0, late).cut_off);
}

// The way to the log is there, and what comes is not applied.
TEST_F(ProgressTest, WhatIsInTheLogAndNotAppliedIsLag) {
  Serve(0);
  for (int64_t ms = 500; ms <= 600'000; ms += 500) {
    progress_.NoteEnd(0, 2 + ms, kBegin + milliseconds(ms));
  }
  const milliseconds now(600'000);
  EXPECT_EQ(State(0, now), ReplicaState::kBehind);
  EXPECT_FALSE(Report(0, now).cut_off);
  EXPECT_EQ(Report(0, now).behind_ms, now.count());
  progress_.Advance(0, 2 + 300'000, kNow);
  EXPECT_GE(Report(0, now).behind_ms, 300'000);  // some ends on the way were forgotten
  EXPECT_LT(Report(0, now).behind_ms, 350'000);
  progress_.Advance(0, 2 + 600'000, kNow);
  EXPECT_LT(Report(0, now).behind_ms, 50'000);
  progress_.NoteEnd(0, 2 + 600'000, kBegin + now);
  EXPECT_EQ(State(0, now), ReplicaState::kServing);
  EXPECT_EQ(Report(0, now).behind_ms, 0);
}

// Of a record from a clock two hours ahead, and of an own clock that goes anywhere.
TEST_F(ProgressTest, NoWallClockHidesLag) {
  Serve(0);
  progress_.Advance(0, 2, kNow + 7'200'000);
  progress_.NoteEnd(0, 5, kBegin + milliseconds(1'000));
  for (const int64_t now_ms : {kNow, kNow - 86'400'000, kNow + 86'400'000}) {
    EXPECT_EQ(Report(0, milliseconds(4'000), now_ms).state, ReplicaState::kBehind);
    EXPECT_EQ(Report(0, milliseconds(4'000), now_ms).behind_ms, 4'000);
  }
}

TEST_F(ProgressTest, AProcessThatStoodStillIsBehindUntilItKnowsBetter) {
  Serve(0);
  progress_.Doubt(kBegin + milliseconds(100));
  progress_.NoteEnd(0, 1, kBegin + milliseconds(99));
  EXPECT_EQ(State(0, milliseconds(100)), ReplicaState::kBehind);
  progress_.NoteEnd(0, 2, kBegin + milliseconds(100));
  EXPECT_EQ(State(0, milliseconds(100)), ReplicaState::kBehind);
  progress_.Advance(0, 2, kNow);
  EXPECT_EQ(State(0, milliseconds(100)), ReplicaState::kServing);
}

TEST_F(ProgressTest, WhatIsStoppedForGoodStaysSo) {
  Serve(0);
  progress_.Stop(0, "the disk is full", Stopped::kForNow);
  EXPECT_EQ(State(0), ReplicaState::kBehind);
  EXPECT_EQ(progress_.Problems(), std::vector<std::string>{"partition 0: the disk is full"});
  progress_.Resume(0);
  EXPECT_EQ(State(0), ReplicaState::kServing);
  progress_.Stop(0, "an unknown record", Stopped::kForGood);
  progress_.Resume(0);
  EXPECT_EQ(State(0), ReplicaState::kBehind);
  EXPECT_TRUE(progress_.IsStopped(0));
  progress_.Stop(0, "no broker", Stopped::kForNow);
  EXPECT_EQ(progress_.Problems(), std::vector<std::string>{"partition 0: an unknown record"});
  Await(0, 2);
  EXPECT_EQ(ended_, 1);
}

TEST_F(ProgressTest, WhatIsToBeReplacedServesAsBehindUntilItIs) {
  Serve(0);
  progress_.Stop(0, "a gap", Stopped::kUntilReplaced, 40);
  EXPECT_EQ(progress_.ToReplace(), (std::map<uint32_t, int64_t>{{0, 40}}));
  progress_.Resume(0);
  EXPECT_EQ(State(0), ReplicaState::kBehind);
  EXPECT_TRUE(progress_.IsStopped(0));
  progress_.Drop(0);
  progress_.Hold(0, kBegin);
  EXPECT_TRUE(progress_.ToReplace().empty());
  EXPECT_FALSE(progress_.IsStopped(0));
}

TEST_F(ProgressTest, OtherTopicsCountAsTheLogDoes) {
  std::map<uint32_t, int64_t> topics;
  progress_.Hold(0, kBegin);
  progress_.Resume(0);
  EXPECT_TRUE(progress_.CaughtUp().empty());
  Serve(0);
  EXPECT_EQ(progress_.CaughtUp(), std::set<uint32_t>{0});
  const auto report = [&] {
    return progress_.Report(kNow, kBegin + milliseconds(10), &topics).at(0);
  };
  EXPECT_EQ(report().state, ReplicaState::kCatchingUp);  // nothing is known of them
  topics[0] = 0;
  EXPECT_EQ(report().state, ReplicaState::kServing);
  EXPECT_EQ(report().behind_ms, 10);
  topics[0] = cluster::kBehindMost + 1;
  EXPECT_EQ(report().state, ReplicaState::kBehind);
  EXPECT_EQ(report().behind_ms, cluster::kBehindMost + 1);
}

// After a start without Kafka: what is known is told, but by one that knows nothing.
TEST_F(ProgressTest, WhatCannotBeReadOnIsBehind) {
  progress_.Hold(0, kBegin);
  progress_.Begin(0, 0, 0);
  progress_.Stop(0, "no broker", Stopped::kForNow);
  EXPECT_EQ(State(0), ReplicaState::kCatchingUp);
  progress_.Begin(0, 8, kNow - 50);
  EXPECT_EQ(State(0), ReplicaState::kBehind);
  EXPECT_EQ(Report(0).behind_ms, 50);
  progress_.Resume(0);
  EXPECT_EQ(State(0), ReplicaState::kCatchingUp);
}

TEST_F(ProgressTest, WaitersAreToldOnceItIsThere) {
  Await(0, 1);
  EXPECT_EQ(ended_, 1);  // it is not held
  progress_.Hold(0, kBegin);
  progress_.Begin(0, 5, 0);
  Await(0, 5);
  EXPECT_EQ(came_, 1);
  Await(0, 7);
  Await(0, 8);
  progress_.Advance(0, 6, kNow);
  EXPECT_EQ(came_, 1);
  progress_.Advance(0, 7, kNow);
  EXPECT_EQ(came_, 2);
  progress_.Drop(0);
  EXPECT_EQ(ended_, 2);
}

TEST_F(ProgressTest, WaitersAreToldAtTheirDeadline) {
  progress_.Hold(0, kBegin);
  const Time now = steady_clock::now();
  Await(0, 1, now + std::chrono::seconds(1));
  Await(0, 1, now + std::chrono::seconds(9));
  progress_.Expire(now);
  EXPECT_EQ(ended_, 0);
  progress_.Expire(now + std::chrono::seconds(1));
  EXPECT_EQ(ended_, 1);
  progress_.End();
  EXPECT_EQ(ended_, 2);
  Await(0, 1);
  EXPECT_EQ(ended_, 3);
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
