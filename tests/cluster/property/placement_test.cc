// The laws of placements over random memberships that change step by step.

#include "cluster/placement.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

using Loads = std::map<std::string, int>;

Loads LoadsOf(const Assignment& assign, const std::vector<PlaceableNode>& nodes) {
  Loads loads;
  for (const PlaceableNode& node : nodes) loads[node.name] = 0;
  for (const auto& list : assign) {
    for (const std::string& name : list) ++loads.at(name);
  }
  return loads;
}

Loads LeadsOf(const Assignment& assign, const std::vector<PlaceableNode>& nodes) {
  Assignment firsts;
  for (const auto& list : assign) firsts.push_back({list.front()});
  return LoadsOf(firsts, nodes);
}

int SpreadOf(const Loads& loads) {
  int low = INT32_MAX, high = 0;
  for (const auto& [node, load] : loads) {
    low = std::min(low, load);
    high = std::max(high, load);
  }
  return high - low;
}

int AddedBetween(const Assignment& from, const Assignment& to) {
  int added = 0;
  for (const PlacementMove& move : MovesBetween(from, to)) {
    added += move.what == PlacementMove::What::kAdded ? 1 : 0;
  }
  return added;
}

/// Every list has the right number of distinct nodes, in as many zones as there are.
void CheckLists(const Assignment& assign, const std::vector<PlaceableNode>& nodes,
                uint32_t partitions, uint32_t replicas) {
  std::map<std::string, std::string> zone_of;
  std::set<std::string> zones;
  for (const PlaceableNode& node : nodes) {
    zone_of[node.name] = node.zone;
    zones.insert(node.zone);
  }
  ASSERT_EQ(assign.size(), partitions);
  for (const auto& list : assign) {
    ASSERT_EQ(list.size(), std::min<size_t>(replicas, nodes.size()));
    ASSERT_EQ(std::set<std::string>(list.begin(), list.end()).size(), list.size());
    std::set<std::string> used;
    for (const std::string& name : list) used.insert(zone_of.at(name));
    ASSERT_EQ(used.size(), std::min(list.size(), zones.size()));
  }
}

/// No single replica that may move would bring two loads nearer.
void CheckNoMoveHelps(const Assignment& assign, const std::vector<PlaceableNode>& nodes) {
  const Loads loads = LoadsOf(assign, nodes);
  for (const PlaceableNode& from : nodes) {
    for (const PlaceableNode& to : nodes) {
      if ((loads.at(to.name) + 0.5) / to.weight + 1e-6 >=
          (loads.at(from.name) - 0.5) / from.weight) {
        continue;
      }
      for (const auto& list : assign) {
        const auto has = [&](const std::string& name) {
          return std::find(list.begin(), list.end(), name) != list.end();
        };
        const bool in_zone = std::any_of(nodes.begin(), nodes.end(), [&](const auto& other) {
          return other.zone == to.zone && other.name != from.name && has(other.name);
        });
        ASSERT_FALSE(has(from.name) && !has(to.name) && !in_zone)
            << from.name << " (" << loads.at(from.name) << ") to " << to.name << " ("
            << loads.at(to.name) << ")";
      }
    }
  }
}

bool Holds(const std::vector<std::string>& list, const std::string& node) {
  return std::find(list.begin(), list.end(), node) != list.end();
}

/// Whether another placement, as balanced as `after`, is made of `before` with fewer copies: then
/// replicas can go round in a circle of nodes, each to the next, and copies are spared. One more
/// number than there are nodes stands for the replica by which loads may differ: nodes with the
/// lower load may take it, those with the higher one give it up. Nodes have zones of their own and
/// equal weights.
bool CanSpareACopy(const Assignment& before, const Assignment& after,
                   const std::vector<PlaceableNode>& nodes) {
  constexpr int kNoWay = 1'000;
  const size_t count = nodes.size();
  std::vector<std::vector<int>> cost(count + 1, std::vector<int>(count + 1, kNoWay));
  for (size_t from = 0; from < count; ++from) {
    for (size_t to = 0; to < count; ++to) {
      for (size_t p = 0; p < after.size(); ++p) {
        if (!Holds(after[p], nodes[from].name) || Holds(after[p], nodes[to].name)) continue;
        const int spared = Holds(before[p], nodes[from].name) ? 0 : 1;
        const int copied = Holds(before[p], nodes[to].name) ? 0 : 1;
        cost[from][to] = std::min(cost[from][to], copied - spared);
      }
    }
  }
  const Loads loads = LoadsOf(after, nodes);
  if (SpreadOf(loads) > 0) {
    int low = INT32_MAX;
    for (const auto& [node, load] : loads) low = std::min(low, load);
    for (size_t i = 0; i < count; ++i) {
      (loads.at(nodes[i].name) == low ? cost[i][count] : cost[count][i]) = 0;
    }
  }
  for (size_t over = 0; over <= count; ++over) {
    for (size_t from = 0; from <= count; ++from) {
      for (size_t to = 0; to <= count; ++to) {
        cost[from][to] = std::min(cost[from][to], cost[from][over] + cost[over][to]);
      }
    }
  }
  for (size_t i = 0; i <= count; ++i) {
    if (cost[i][i] < 0) return true;
  }
  return false;
}

TEST(PlacementProperty, ACopyThatCanBeSparedIsFound) {
  const std::vector<PlaceableNode> nodes{{"a", "a", 1}, {"b", "b", 1}, {"c", "c", 1}};
  const Assignment before{{"a"}, {"b"}, {"c"}}, crossed{{"b"}, {"a"}, {"c"}};
  EXPECT_FALSE(CanSpareACopy(before, before, nodes));
  EXPECT_TRUE(CanSpareACopy(before, crossed, nodes));
  // Of two that lead to the same loads, the one that moves another node's replica too.
  const Assignment one{{"a"}, {"a"}, {"b"}, {"b"}}, direct{{"c"}, {"a"}, {"b"}, {"b"}},
      around{{"b"}, {"a"}, {"c"}, {"b"}};
  EXPECT_FALSE(CanSpareACopy(one, direct, nodes));
  EXPECT_TRUE(CanSpareACopy(one, around, nodes));
}

/// Nodes that come and go one at a time.
struct Membership {
  std::mt19937_64 random;
  std::vector<PlaceableNode> nodes;
  int made = 0;

  size_t Below(size_t bound) { return random() % bound; }
  std::string newest() const { return "n" + std::to_string(made - 1); }
  void Join(const std::string& zone, double weight) {
    ++made;
    const std::string name = newest();
    nodes.push_back({name, zone.empty() ? name : zone, weight});
    std::sort(nodes.begin(), nodes.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
  }
  void Leave() { nodes.erase(nodes.begin() + static_cast<ptrdiff_t>(Below(nodes.size()))); }
};

TEST(PlacementProperty, NodesOfTheirOwnZonesAreBalancedWithTheFewestMoves) {
  Membership members{std::mt19937_64(test::Seed()), {}};
  for (int round = 0; round < 100; ++round) {
    const auto partitions = static_cast<uint32_t>(1 + members.Below(128));
    const auto replicas = static_cast<uint32_t>(1 + members.Below(4));
    members.nodes.clear();
    for (size_t i = 0; i < 1 + members.Below(8); ++i) members.Join("", 1);
    Assignment current = Propose({}, members.nodes, partitions, replicas);
    for (int step = 0; step < 5; ++step) {
      const size_t before = members.nodes.size();
      if (before == 1 || members.Below(2) == 0) {
        members.Join("", 1);
      } else {
        members.Leave();
      }
      const Assignment next = Propose(current, members.nodes, partitions, replicas);
      CheckLists(next, members.nodes, partitions, replicas);
      const Loads loads = LoadsOf(next, members.nodes);
      ASSERT_LE(SpreadOf(loads), 1);
      ASSERT_LE(SpreadOf(LeadsOf(next, members.nodes)), 1);
      ASSERT_EQ(Propose(next, members.nodes, partitions, replicas), next) << "it is not at rest";
      ASSERT_FALSE(CanSpareACopy(current, next, members.nodes));
      // A node that joins fills up, and nothing else moves.
      if (before >= replicas && members.nodes.size() > before) {
        ASSERT_EQ(AddedBetween(current, next), loads.at(members.newest()));
      }
      current = next;
    }
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(PlacementProperty, ZonesAndWeightsAreHeededAndNoMoveHelps) {
  Membership members{std::mt19937_64(test::Seed()), {}};
  for (int round = 0; round < 250; ++round) {
    const auto partitions = static_cast<uint32_t>(1 + members.Below(64));
    const auto replicas = static_cast<uint32_t>(1 + members.Below(4));
    members.nodes.clear();
    Assignment current;
    for (int step = 0; step < 4; ++step) {
      const bool join = members.nodes.empty() || members.Below(3) > 0;
      if (join) {
        members.Join("z" + std::to_string(members.Below(4)),
                     1 + 0.5 * static_cast<double>(members.Below(5)));
      } else {
        members.Leave();
      }
      if (members.nodes.empty()) continue;
      current = Propose(current, members.nodes, partitions, replicas);
      CheckLists(current, members.nodes, partitions, replicas);
      CheckNoMoveHelps(current, members.nodes);
      ASSERT_EQ(Propose(current, members.nodes, partitions, replicas), current);
    }
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(PlacementProperty, ZonesOfEqualSizeAreBalanced) {
  Membership members{std::mt19937_64(test::Seed()), {}};
  for (int round = 0; round < 100; ++round) {
    const auto partitions = static_cast<uint32_t>(1 + members.Below(100));
    const size_t zones = 2 + members.Below(3), size = 1 + members.Below(4);
    const auto replicas = static_cast<uint32_t>(1 + members.Below(zones));
    members.nodes.clear();
    for (size_t i = 0; i < zones * size; ++i) {
      members.Join("z" + std::to_string(i % zones), 1);
    }
    // From a placement of random lists, whose zones are crowded.
    Assignment current(partitions);
    for (auto& list : current) {
      for (size_t i = 0; i < members.Below(5); ++i) {
        list.push_back(members.nodes[members.Below(members.nodes.size())].name);
      }
    }
    const Assignment next = Propose(current, members.nodes, partitions, replicas);
    CheckLists(next, members.nodes, partitions, replicas);
    ASSERT_LE(SpreadOf(LoadsOf(next, members.nodes)), 1) << "round " << round;
    ASSERT_LE(SpreadOf(LeadsOf(next, members.nodes)), 1) << "round " << round;
  }
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
