// Whom a node asks, who leads, what it fetches and drops.

#include "cluster/view.h"

#include "cluster/unit/three_nodes.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
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
  JudgeClocks(&nodes_);
  EXPECT_EQ(Order(0), (Names{"n1", "n2"}));
  EXPECT_EQ(Leader(0), "n2");
  nodes_["n2"].report->stopping = true;
  EXPECT_EQ(Leader(0), "");
}

TEST_F(ViewTest, ANodeThatIsCutOffFromTheLogLeadsOnlyWhereAllAre) {
  Say("n1", {{0, {.state = kServing, .next_offset = 9, .cut_off = true}}});
  Say("n2", {{0, {.state = kServing, .next_offset = 5}}});
  EXPECT_EQ(Order(0), (Names{"n1", "n2"}));
  EXPECT_EQ(Leader(0), "n2");
  Say("n1", {{0, {.state = kBehind, .next_offset = 9, .cut_off = true}}});
  Say("n2", {{0, {.state = kBehind, .next_offset = 5}}});  // it can catch up, the other can't
  EXPECT_EQ(Leader(0), "n2");
  Say("n2", {{0, {.state = kBehind, .next_offset = 5, .cut_off = true}}});
  EXPECT_EQ(Leader(0), "n1");  // for what needs no log
}

class ClocksTest : public ThreeNodes {
 protected:
  /// The nodes whose clocks are wrong, n1 and so on being ahead by so much.
  Names Wrong(const std::vector<int64_t>& ahead_ms) {
    nodes_.clear();
    for (size_t i = 0; i < ahead_ms.size(); ++i) {
      const std::string node = "n" + std::to_string(i + 1);
      Say(node, {});
      nodes_[node].clock_ahead_ms = ahead_ms[i];
    }
    JudgeClocks(&nodes_);
    Names wrong;
    for (const auto& [node, view] : nodes_) {
      if (view.clock_wrong) wrong.push_back(node);
    }
    return wrong;
  }
};

TEST_F(ClocksTest, TheOneThatIsApartFromTwoThatAgreeIsWrongWhoeverLooks) {
  constexpr int64_t kHour = 3'600'000;
  EXPECT_EQ(Wrong({0, 10, 30'000}), Names{});
  EXPECT_EQ(Wrong({0, 10, kHour}), Names{"n3"});            // as n1 sees it
  EXPECT_EQ(Wrong({-kHour, -kHour + 10, 0}), Names{"n3"});  // as n3 does
  EXPECT_EQ(Wrong({0, kHour}), Names{});                    // nobody knows which
  EXPECT_EQ(Wrong({0, kHour, 2 * kHour}), Names{});         // nobody agrees
  EXPECT_EQ(Wrong({0, 0, kHour, kHour}), Names{});          // two against two
  EXPECT_EQ(Wrong({0, 0, 0, kHour, kHour}), (Names{"n4", "n5"}));
  EXPECT_EQ(Wrong({0, 0, -kHour, kHour}), (Names{"n3", "n4"}));
  EXPECT_EQ(Wrong({0, 25'000, 50'000, kHour}), Names{"n4"});  // a drift
  Wrong({0, 10, kHour});
  nodes_["n2"].health.Refused();
  JudgeClocks(&nodes_);
  EXPECT_FALSE(nodes_["n3"].clock_wrong);  // one that is down has no say
}

TEST_F(ClocksTest, PeopleAreTold) {
  Wrong({0, -400, 501, 3'600'000});
  EXPECT_EQ(
      ClockProblems("n1", nodes_),
      (Names{"the clock of node n3 is more than 500 ms ahead of this node's",
             "the clock of node n4 is more than 30 s ahead of this node's, and wrong: it leads "
             "nothing"}));
  Wrong({-3'600'000, -3'600'000, 0});
  const Names own = ClockProblems("n3", nodes_);
  ASSERT_EQ(own.size(), 3U);
  EXPECT_EQ(own[0], "the clock of node n1 is more than 30 s behind this node's");
  EXPECT_TRUE(own[2].starts_with("this node's clock is more than 30 s apart")) << own[2];
  Wrong({0, -40'000});
  EXPECT_EQ(ClockProblems("n1", nodes_),
            Names{"the clock of node n2 is more than 30 s behind this node's"});
}

TEST_F(ClocksTest, AnAnswerThatTookLongSaysLess) {
  EXPECT_EQ(SurelyAhead(700, 500), 200);
  EXPECT_EQ(SurelyAhead(-700, 500), -200);
  EXPECT_EQ(SurelyAhead(499, 500), 0);
  EXPECT_EQ(SurelyAhead(-500, 500), 0);
}

TEST(PartitionsTextTest, NamesSome) {
  EXPECT_EQ(PartitionsText({3}), "partition 3");
  EXPECT_EQ(PartitionsText({0, 3}), "partitions 0, 3");
  EXPECT_EQ(PartitionsText({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
            "partitions 0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

// In turn: the one before may be up and cut off from the log.
TEST_F(ViewTest, EachNodeOfAListMayTickAfterTheOneBefore) {
  EXPECT_EQ(TickPlace(0, "n1", meta_, nodes_), 0U);
  EXPECT_EQ(TickPlace(0, "n2", meta_, nodes_), 1U);
  EXPECT_EQ(TickPlace(0, "n3", meta_, nodes_), std::nullopt);
  EXPECT_EQ(TickPlace(2, "n3", meta_, nodes_), std::nullopt);
  nodes_["n1"].health.Refused();
  EXPECT_EQ(TickPlace(0, "n2", meta_, nodes_), 0U);
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
  // Those that were tried last wait for the others.
  EXPECT_EQ(PlanShards("n2", meta_, {}, {5}, none, 0, 1).fetch, (std::vector<uint32_t>{1}));
  EXPECT_EQ(PlanShards("n2", meta_, {}, {5}, none, 0, 2).fetch, (std::vector<uint32_t>{0}));
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
}  // namespace seendb::cluster::SEENDB_TEST_FILE
