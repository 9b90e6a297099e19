// Whom a node asks, who leads, what it fetches and drops.

#include "cluster/view.h"

#include "cluster/unit/three_nodes.h"

namespace seendb::cluster {
namespace {

using enum ReplicaState;

class ViewTest : public ThreeNodes {
 protected:
  std::vector<std::string> Order(uint32_t partition) const {
    const std::vector<ReplicaView> replicas = ReplicasOf(partition, meta_, nodes_);
    std::vector<std::string> names;
    for (const size_t i : ReadOrder(replicas)) names.push_back(replicas[i].node);
    return names;
  }
  std::vector<std::string> Sources(uint32_t partition) const {
    const std::vector<ReplicaView> replicas = ReplicasOf(partition, meta_, nodes_);
    std::vector<std::string> names;
    for (const size_t i : CopyOrder(replicas)) names.push_back(replicas[i].node);
    return names;
  }
  std::string Leader(uint32_t partition) const {
    const std::vector<ReplicaView> replicas = ReplicasOf(partition, meta_, nodes_);
    const auto leader = ActingPrimary(replicas);
    return leader ? replicas[*leader].node : "";
  }
};

using Names = std::vector<std::string>;

TEST(NodeHealthTest, StatesOfANode) {
  NodeHealth health;
  EXPECT_EQ(health.state(), NodeState::kDown);  // never asked
  health.Answered();
  EXPECT_EQ(health.state(), NodeState::kUp);
  health.Missed();
  health.Missed();
  EXPECT_EQ(health.state(), NodeState::kUp);
  health.Missed();
  EXPECT_EQ(health.state(), NodeState::kDown);
  health.Served();  // an old answer that comes late does not bring it back
  EXPECT_EQ(health.state(), NodeState::kDown);
  health.Answered();
  health.Lost();
  health.Lost();
  health.Served();
  health.Lost();
  EXPECT_EQ(health.state(), NodeState::kUp);  // not in a row
  health.Lost();
  health.Lost();
  EXPECT_EQ(health.state(), NodeState::kSuspect);
  health.Answered();
  EXPECT_EQ(health.state(), NodeState::kUp);
  health.Refused();
  EXPECT_EQ(health.state(), NodeState::kDown);
}

TEST(NodeHealthTest, Names) {
  EXPECT_EQ(NodeStateName(NodeState::kSuspect), "suspect");
  EXPECT_EQ(ReplicaStateName(kUnreachable), "unreachable");
  EXPECT_EQ(ReplicaStateName(kCatchingUp), "catching_up");
}

TEST(ReplicaStateTest, ServesOnceCaughtUpAndCloseToTheEnd) {
  EXPECT_EQ(StateOfOpen(false, 0), kCatchingUp);
  EXPECT_EQ(StateOfOpen(true, kBehindMost), kServing);
  EXPECT_EQ(StateOfOpen(true, kBehindMost + 1), kBehind);
}

TEST_F(ViewTest, ServingReplicasAreAskedInTheOrderOfTheList) {
  Say("n1", {{0, {kServing}}});
  Say("n2", {{0, {kServing}}, {1, {kServing}}});
  Say("n3", {{1, {kServing}}});
  EXPECT_EQ(Order(0), (Names{"n1", "n2"}));
  EXPECT_EQ(Order(1), (Names{"n2", "n3"}));
  EXPECT_EQ(Leader(0), "n1");
}

TEST_F(ViewTest, ThoseBehindAreAskedLastWhoHasAppliedMostFirst) {
  Say("n1", {{0, {kBehind, 5, 4'000}}});
  Say("n2", {{0, {kBehind, 6, 9'000}}});  // told earlier or later, so that lags don't compare
  EXPECT_EQ(Order(0), (Names{"n2", "n1"}));
  EXPECT_EQ(Leader(0), "n2");
  Say("n3", {{0, {kServing}}});  // it still holds what the placement took away
  EXPECT_EQ(Order(0), (Names{"n3", "n2", "n1"}));
}

TEST_F(ViewTest, ReplicasThatLackPlaysAreNotAsked) {
  Say("n1", {{0, {kFetching}}});
  Say("n2", {{0, {kCatchingUp}}});
  EXPECT_EQ(Order(0), Names{});
  EXPECT_EQ(Leader(0), "");
}

TEST_F(ViewTest, ANodeThatIsDownIsNotAsked) {
  Say("n1", {{0, {kServing}}});
  Say("n2", {{0, {kServing}}});
  nodes_["n1"].health.Refused();
  EXPECT_EQ(Order(0), Names{"n2"});
  EXPECT_EQ(Leader(0), "n2");
  EXPECT_EQ(ReplicasOf(0, meta_, nodes_)[0].report.state, kUnreachable);
}

TEST_F(ViewTest, ASuspectIsAskedLastAndDoesNotLead) {
  Say("n1", {{0, {kServing}}});
  Say("n2", {{0, {kBehind, 5, 9'000}}});
  for (int i = 0; i < 3; ++i) nodes_["n1"].health.Lost();
  EXPECT_EQ(Order(0), (Names{"n2", "n1"}));
  EXPECT_EQ(Leader(0), "n2");
  EXPECT_EQ(ReplicasOf(0, meta_, nodes_)[0].report.state, kUnreachable);
}

TEST_F(ViewTest, ACopyIsAskedForWhereNobodyLeads) {
  EXPECT_EQ(Sources(0), Names{});
  Say("n1", {{0, {.state = kServing}}});
  EXPECT_EQ(Sources(0), Names{"n1"});
  Say("n2", {{0, {.state = kServing}}});
  EXPECT_EQ(Sources(0), (Names{"n2", "n1"}));
  Say("n3", {{0, {.state = kServing}}});  // held, and not wanted any more
  EXPECT_EQ(Sources(0), (Names{"n2", "n3", "n1"}));
  Say("n2", {{0, {.state = kBehind, .behind_ms = 9'000}}});
  EXPECT_EQ(Sources(0), (Names{"n3", "n1", "n2"}));
  Say("n3", {{0, {.state = kFetching}}});  // has none itself
  EXPECT_EQ(Sources(0), (Names{"n1", "n2"}));
  nodes_["n1"].health.Refused();
  EXPECT_EQ(Sources(0), Names{"n2"});
}

TEST_F(ViewTest, AWrongClockAnswersAndDoesNotLead) {
  Say("n1", {{0, {kServing}}});
  Say("n2", {{0, {kServing}}});
  nodes_["n1"].clock_ahead_ms = -kClockApartMost - 1;
  EXPECT_EQ(Order(0), (Names{"n1", "n2"}));
  EXPECT_EQ(Leader(0), "n2");
  nodes_["n2"].report->stopping = true;
  EXPECT_EQ(Leader(0), "");
}

TEST_F(ViewTest, ANodeThatWasNeverHeardOfIsUnreachable) {
  nodes_.clear();
  const std::vector<ReplicaView> replicas = ReplicasOf(0, meta_, nodes_);
  ASSERT_EQ(replicas.size(), 2u);
  EXPECT_EQ(replicas[0].report.state, kUnreachable);
  EXPECT_TRUE(replicas[0].wanted);
  EXPECT_EQ(Order(0), Names{});
}

TEST_F(ViewTest, WantedPartitionsAreFetchedTwoAtATime) {
  const ServingSince none;
  EXPECT_EQ(PlanShards("n2", meta_, {}, {}, none, 0).fetch, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(PlanShards("n2", meta_, {0}, {}, none, 0).fetch, (std::vector<uint32_t>{1}));
  EXPECT_EQ(PlanShards("n2", meta_, {}, {0}, none, 0).fetch, (std::vector<uint32_t>{1}));
  EXPECT_TRUE(PlanShards("n2", meta_, {}, {7, 8}, none, 0).fetch.empty());
  EXPECT_TRUE(PlanShards("n9", meta_, {}, {}, none, 0).fetch.empty());
  EXPECT_EQ(PlanShards("n2", Meta(), {3}, {}, none, INT64_MAX), ShardPlan{});
}

TEST_F(ViewTest, WhatIsNotWantedIsDroppedOnceAllWantedServedForAMinute) {
  Say("n1", {{0, {kServing}}});
  Say("n2", {{0, {kServing}}});
  Say("n3", {{0, {kServing}}, {1, {kServing}}});
  ServingSince serving;
  const auto drops = [&](int64_t now_ms) {
    return PlanShards("n3", meta_, {0, 1}, {}, serving, now_ms).drop;
  };
  serving.Note(0, ReplicasOf(0, meta_, nodes_), 1'000);
  EXPECT_TRUE(drops(1'000 + kDropAfterMs - 1).empty());
  EXPECT_EQ(drops(1'000 + kDropAfterMs), std::vector<uint32_t>{0});
  // A break of one of them begins the time anew; the one that is to go does not count.
  Say("n2", {{0, {kBehind, 0, 4'000}}});
  serving.Note(0, ReplicasOf(0, meta_, nodes_), 50'000);
  EXPECT_TRUE(drops(1'000 + kDropAfterMs).empty());
  Say("n2", {{0, {kServing}}});
  serving.Note(0, ReplicasOf(0, meta_, nodes_), 60'000);
  EXPECT_TRUE(drops(60'000 + kDropAfterMs - 1).empty());
  EXPECT_EQ(drops(60'000 + kDropAfterMs), std::vector<uint32_t>{0});
}

TEST_F(ViewTest, WithAnotherListTheMinuteBeginsAnew) {
  for (const char* node : {"n1", "n2", "n3"}) Say(node, {{0, {kServing}}});
  ServingSince serving;
  serving.Note(0, ReplicasOf(0, meta_, nodes_), 0);  // of n1 and n2
  const int64_t offset = meta_.next_offset();
  const PlacementRecord moved{meta_.placement().offset, {{"n1", "n3"}, {"n2", "n3"}}};
  ASSERT_TRUE(meta_.Apply(offset, EncodeMeta(moved)).ok());
  for (const char* node : {"n1", "n2", "n3"}) Say(node, {{0, {kServing}}});
  const int64_t then_ms = kDropAfterMs + 5'000;
  serving.Note(0, ReplicasOf(0, meta_, nodes_), then_ms);
  const auto drops = [&](int64_t now_ms) {
    return PlanShards("n2", meta_, {0}, {1}, serving, now_ms).drop;
  };
  EXPECT_TRUE(drops(then_ms + kDropAfterMs - 1).empty());
  EXPECT_EQ(drops(then_ms + kDropAfterMs), std::vector<uint32_t>{0});
}

TEST_F(ViewTest, WhoGoesByAnOlderPlacementDoesNotCountAsWanted) {
  Say("n1", {{0, {kServing}}});
  Say("n2", {{0, {kServing}}});
  nodes_["n2"].report->meta_offset = meta_.placement().offset;  // the one before it
  ServingSince serving;
  serving.Note(0, ReplicasOf(0, meta_, nodes_), 0);
  EXPECT_TRUE(PlanShards("n3", meta_, {0}, {}, serving, kDropAfterMs).drop.empty());
  nodes_["n2"].report->meta_offset = meta_.placement().offset + 1;
  serving.Note(0, ReplicasOf(0, meta_, nodes_), 0);
  EXPECT_EQ(PlanShards("n3", meta_, {0}, {}, serving, kDropAfterMs).drop, std::vector<uint32_t>{0});
}

}  // namespace
}  // namespace seendb::cluster
