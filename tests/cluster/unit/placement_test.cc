// Placements: the examples that people will look at. tests/cluster/property has the laws.

#include "cluster/placement.h"

#include <map>

#include <gtest/gtest.h>

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

using What = PlacementMove::What;

std::vector<PlaceableNode> Nodes(int count) {
  std::vector<PlaceableNode> nodes;
  for (int i = 1; i <= count; ++i) {
    const std::string name = "n" + std::to_string(i);
    nodes.push_back({name, name, 1});
  }
  return nodes;
}

TEST(PlacementTest, SixtyFourPartitionsTwiceOnThreeNodes) {
  const Assignment assign = Propose({}, Nodes(3), 64, 2);
  std::map<std::string, int> replicas, primaries;
  for (const auto& list : assign) {
    ASSERT_EQ(list.size(), 2u);
    ++primaries[list[0]];
    for (const std::string& node : list) ++replicas[node];
  }
  std::multiset<int> loads, leads;
  for (const auto& [node, count] : replicas) loads.insert(count);
  for (const auto& [node, count] : primaries) leads.insert(count);
  EXPECT_EQ(loads, (std::multiset<int>{42, 43, 43}));
  EXPECT_EQ(leads, (std::multiset<int>{21, 21, 22}));
}

TEST(PlacementTest, TheFourthNodeTakesAFourthAndNothingElseMoves) {
  const Assignment three = Propose({}, Nodes(3), 64, 2);
  int added = 0;
  for (const PlacementMove& move : MovesBetween(three, Propose(three, Nodes(4), 64, 2))) {
    if (move.what != What::kAdded) continue;
    EXPECT_EQ(move.node, "n4");
    ++added;
  }
  EXPECT_EQ(added, 32);
}

TEST(PlacementTest, ADeadNodesWorkGoesToAllOthers) {
  const Assignment assign = Propose({}, Nodes(6), 120, 2);
  std::map<std::string, int> seconds;  // of partitions that n1 leads
  for (const auto& list : assign) {
    if (list[0] == "n1") ++seconds[list[1]];
  }
  EXPECT_EQ(seconds.size(), 5u);
  for (const auto& [node, count] : seconds) EXPECT_LE(count, 6) << node;
}

TEST(PlacementTest, FewerNodesThanReplicas) {
  EXPECT_EQ(Propose({}, Nodes(1), 2, 3), (Assignment{{"n1"}, {"n1"}}));
}

TEST(PlacementTest, AHeavierNodeTakesMore) {
  std::vector<PlaceableNode> nodes = Nodes(3);
  nodes[0].weight = 2;
  std::map<std::string, int> replicas;
  for (const auto& list : Propose({}, nodes, 100, 1)) ++replicas[list[0]];
  EXPECT_EQ(replicas, (std::map<std::string, int>{{"n1", 50}, {"n2", 25}, {"n3", 25}}));
}

TEST(PlacementTest, ZonesThatWereSetLaterAreHeeded) {
  std::vector<PlaceableNode> nodes = Nodes(4);
  nodes[0].zone = nodes[1].zone = "a";
  nodes[2].zone = nodes[3].zone = "b";
  const Assignment crowded(8, {"n1", "n2"});
  for (const auto& list : Propose(crowded, nodes, 8, 2)) {
    const bool first_in_a = list[0] == "n1" || list[0] == "n2";
    const bool second_in_a = list[1] == "n1" || list[1] == "n2";
    EXPECT_NE(first_in_a, second_in_a) << list[0] << list[1];
  }
}

TEST(PlacementTest, MovesAreTold) {
  const Assignment from{{"a", "b"}, {"a"}, {"a", "b"}}, to{{"b", "a"}, {"c"}, {"a", "b"}};
  EXPECT_EQ(MovesBetween(from, to),
            (std::vector<PlacementMove>{
                {0, "b", What::kLeads}, {1, "c", What::kAdded}, {1, "a", What::kRemoved}}));
}

TEST(PlacementTest, OneReplicaIsMovedByHand) {
  const Assignment from{{"a", "b"}};
  EXPECT_EQ(*MoveReplica(from, 0, "a", "c"), (Assignment{{"c", "b"}}));
  EXPECT_EQ(MoveReplica(from, 1, "a", "c").status().field(), "/partition");
  EXPECT_EQ(MoveReplica(from, 0, "c", "d").status().field(), "/from");
  EXPECT_EQ(MoveReplica(from, 0, "a", "b").status().field(), "/to");
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
