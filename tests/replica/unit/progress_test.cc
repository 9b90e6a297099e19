// How far replicas are, and who waits for them.

#include "replica/progress.h"

#include <gtest/gtest.h>

namespace seendb::replica {
namespace {

using cluster::ReplicaState;
using std::chrono::steady_clock;

constexpr int64_t kNow = 1'773'144'000'000;

class ProgressTest : public ::testing::Test {
 protected:
  void Await(uint32_t partition, int64_t next_offset, Time deadline = Time::max()) {
    progress_.Await(partition, next_offset, deadline,
                    [this](bool there) { (there ? came_ : ended_) += 1; });
  }
  ReplicaState State(uint32_t partition, int64_t now_ms = kNow) {
    return progress_.Report(now_ms).at(partition).state;
  }
  Progress progress_;
  int came_ = 0, ended_ = 0;
};

TEST_F(ProgressTest, AReplicaServesOnceItAppliedSomethingNewerThanItsOpening) {
  progress_.SetFetching(3, true);
  EXPECT_EQ(State(3), ReplicaState::kFetching);
  progress_.Hold(3, kNow);
  EXPECT_EQ(State(3), ReplicaState::kCatchingUp);
  progress_.Begin(3, 7, 0);
  progress_.Resume(3);
  progress_.Advance(3, 8, kNow - 1);
  EXPECT_EQ(State(3), ReplicaState::kCatchingUp);
  EXPECT_EQ(progress_.Report(kNow).at(3).next_offset, 8);
  EXPECT_EQ(progress_.Report(kNow + 9).at(3).behind_ms, 10);
  progress_.Advance(3, 9, kNow);
  EXPECT_EQ(State(3), ReplicaState::kServing);
  EXPECT_EQ(State(3, kNow + cluster::kBehindMost + 1), ReplicaState::kBehind);
}

TEST_F(ProgressTest, AProcessThatStoodStillIsBehindUntilItKnowsBetter) {
  progress_.Hold(0, kNow);
  progress_.Resume(0);
  progress_.Advance(0, 1, kNow);
  progress_.Doubt(kNow + 100);
  progress_.Advance(0, 2, kNow + 99);
  EXPECT_EQ(State(0, kNow + 100), ReplicaState::kBehind);
  progress_.Advance(0, 3, kNow + 100);
  EXPECT_EQ(State(0, kNow + 100), ReplicaState::kServing);
}

TEST_F(ProgressTest, WhatIsStoppedForGoodStaysSo) {
  progress_.Hold(0, kNow);
  progress_.Resume(0);
  progress_.Advance(0, 1, kNow);
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
  progress_.Hold(0, kNow);
  progress_.Resume(0);
  progress_.Advance(0, 1, kNow);
  progress_.Stop(0, "a gap", Stopped::kUntilReplaced, 40);
  EXPECT_EQ(progress_.ToReplace(), (std::map<uint32_t, int64_t>{{0, 40}}));
  progress_.Resume(0);
  EXPECT_EQ(State(0), ReplicaState::kBehind);
  EXPECT_TRUE(progress_.IsStopped(0));
  progress_.Drop(0);
  progress_.Hold(0, kNow);
  EXPECT_TRUE(progress_.ToReplace().empty());
  EXPECT_FALSE(progress_.IsStopped(0));
}

TEST_F(ProgressTest, OtherTopicsCountAsTheLogDoes) {
  std::map<uint32_t, int64_t> topics;
  progress_.Hold(0, kNow);
  progress_.Resume(0);
  EXPECT_TRUE(progress_.CaughtUp().empty());
  progress_.Advance(0, 1, kNow);
  EXPECT_EQ(progress_.CaughtUp(), std::set<uint32_t>{0});
  const auto report = [&] { return progress_.Report(kNow + 10, &topics).at(0); };
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
  progress_.Hold(0, kNow);
  progress_.Begin(0, 0, 0);
  progress_.Stop(0, "no broker", Stopped::kForNow);
  EXPECT_EQ(State(0), ReplicaState::kCatchingUp);
  progress_.Begin(0, 8, kNow - 50);
  EXPECT_EQ(State(0), ReplicaState::kBehind);
  EXPECT_EQ(progress_.Report(kNow).at(0).behind_ms, 50);
  progress_.Resume(0);
  EXPECT_EQ(State(0), ReplicaState::kCatchingUp);
}

TEST_F(ProgressTest, WaitersAreToldOnceItIsThere) {
  Await(0, 1);
  EXPECT_EQ(ended_, 1);  // it is not held
  progress_.Hold(0, kNow);
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
  progress_.Hold(0, kNow);
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
}  // namespace seendb::replica
