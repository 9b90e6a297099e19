// Nodes that fetch and drop shards by what each of them knows: some read X.meta late, some are
// down, some see reports that are old. Placements change meanwhile, back and forth. Second by
// second, deterministic by the seed.

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "cluster/placement.h"
#include "cluster/view.h"
#include "support/seed.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

constexpr uint32_t kPartitions = 6;
constexpr uint32_t kReplicas = 2;
constexpr int64_t kSecondMs = 1'000;
/// A gap that three probes in a row may miss.
constexpr int64_t kUnnoticedS = 3;

std::string NodeName(size_t i) { return "n" + std::to_string(i + 1); }

/// A shard at a node. It is whole once it was fetched.
struct SimShard {
  int64_t fetched_at_s = 0, serving_at_s = 0;
};

/// Since when a node has served a shard, and when it did last.
struct Served {
  int64_t since_s = 0, last_s = -1'000;
};

struct SimNode {
  Meta meta;
  std::map<uint32_t, Served> served;
  std::map<uint32_t, SimShard> shards;
  std::map<std::string, NodeView> views;
  ServingSince serving;
  int64_t down_until_s = 0, deaf_until_s = 0;  // deaf: it reads nothing of X.meta
};

/// What may happen to each node each second, one time in so many; 0: never.
struct Chances {
  int64_t place = 60;  // to the cluster
  int64_t crash = 400, deaf = 80, lost_probe = 10;
  bool crash_alone = false;  // only while all others are well
};

class World {
 public:
  /// `placed`: over how many of the nodes, at first.
  World(uint64_t seed, size_t nodes, size_t placed, Chances chances)
      : chances_(chances), random_(seed), nodes_(nodes) {
    Append(InitRecord{.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
                      .partitions = kPartitions,
                      .replicas = kReplicas,
                      .hash = 1});
    for (size_t i = 0; i < nodes; ++i) {
      Append(MemberRecord{
          .node = NodeName(i), .url = "http://" + NodeName(i) + ":1", .zone = NodeName(i)});
    }
    PlaceOver(0, placed);
    for (size_t i = 0; i < nodes; ++i) {  // all is well at first
      ReadMeta(&nodes_[i]);
      for (uint32_t p = 0; p < kPartitions; ++p) {
        const auto& list = truth_.placement().assign[p];
        if (std::find(list.begin(), list.end(), NodeName(i)) != list.end()) {
          nodes_[i].shards[p] = {};
        }
      }
    }
  }

  void Second() {
    ++now_s_;
    if (Chance(chances_.place)) Place();
    for (SimNode& node : nodes_) {
      if (IsUp(node) && Chance(chances_.crash) && MayCrash()) Crash(&node);
      if (IsUp(node) && Chance(chances_.deaf)) node.deaf_until_s = now_s_ + Below(400);
      if (IsUp(node) && node.deaf_until_s <= now_s_) ReadMeta(&node);
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (IsUp(nodes_[i])) Work(i);
    }
    NoteServing();
  }
  /// Places over `count` nodes from `first` on.
  void PlaceOver(size_t first, size_t count) {
    std::vector<PlaceableNode> some;
    for (const PlaceableNode& node : PlaceableNodes(truth_)) {
      if (NumberOf(node.name) >= first && NumberOf(node.name) < first + count) some.push_back(node);
    }
    Write(Propose(truth_.placement().assign, some, kPartitions, kReplicas));
  }

  /// Whole copies of a partition, on nodes that are down too: their disks are as they were.
  size_t Copies(uint32_t partition) const {
    return static_cast<size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [&](const SimNode& node) {
          const auto shard = node.shards.find(partition);
          return shard != node.shards.end() && shard->second.fetched_at_s <= now_s_;
        }));
  }
  /// Replicas that answer, whatever anybody thinks of them.
  size_t Serving(uint32_t partition) const {
    return static_cast<size_t>(std::count_if(nodes_.begin(), nodes_.end(), [&](const auto& node) {
      return IsServing(node, partition);
    }));
  }
  /// Whether a question finds an answer, whichever node it comes to: that node sends it by what it
  /// knows, to one after the other.
  bool IsAnsweredEverywhere(uint32_t partition) const {
    return std::all_of(nodes_.begin(), nodes_.end(), [&](const SimNode& asked) {
      if (!IsUp(asked) || asked.views.empty()) return true;  // it starts
      const auto replicas = ReplicasOf(partition, asked.meta, asked.views);
      const std::vector<size_t> order = ReadOrder(replicas);
      return std::any_of(order.begin(), order.end(), [&](size_t i) {
        return IsServing(nodes_[NumberOf(replicas[i].node)], partition);
      });
    });
  }
  /// Whether each node holds what the placement wants of it, and no more.
  bool IsSettled() const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (uint32_t p = 0; p < kPartitions; ++p) {
        const auto& list = truth_.placement().assign[p];
        const bool wanted = std::find(list.begin(), list.end(), NodeName(i)) != list.end();
        if (wanted ? !IsServing(nodes_[i], p) : nodes_[i].shards.contains(p)) return false;
      }
    }
    return true;
  }
  /// Shards that went although one that was wanted had served for less than a minute.
  size_t early_drops() const { return early_drops_; }
  int64_t now_s() const { return now_s_; }
  size_t drops() const { return drops_; }
  size_t fetches() const { return fetches_; }

 private:
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  bool Chance(int64_t one_in) { return one_in > 0 && Below(one_in) == 0; }
  static size_t NumberOf(const std::string& node) { return std::stoul(node.substr(1)) - 1; }
  bool IsUp(const SimNode& node) const { return node.down_until_s <= now_s_; }
  bool IsServing(const SimNode& node, uint32_t partition) const {
    const auto shard = node.shards.find(partition);
    return IsUp(node) && shard != node.shards.end() && shard->second.fetched_at_s <= now_s_ &&
           shard->second.serving_at_s <= now_s_;
  }
  bool MayCrash() const {
    if (!chances_.crash_alone) return true;
    return std::all_of(nodes_.begin(), nodes_.end(), [&](const SimNode& node) {
      return IsUp(node) &&
             std::all_of(node.shards.begin(), node.shards.end(), [&](const auto& one) {
               return one.second.fetched_at_s > now_s_ || one.second.serving_at_s <= now_s_;
             });
    });
  }
  void NoteServing() {
    for (SimNode& node : nodes_) {
      for (uint32_t p = 0; p < kPartitions; ++p) {
        if (!IsServing(node, p)) continue;
        Served& served = node.served[p];
        if (served.last_s < now_s_ - kUnnoticedS) served.since_s = now_s_;
        served.last_s = now_s_;
      }
    }
  }
  bool IsEarly(const SimNode& of, uint32_t partition) const {
    const auto& list = of.meta.placement().assign[partition];
    return std::any_of(list.begin(), list.end(), [&](const std::string& wanted) {
      const auto& all = nodes_[NumberOf(wanted)].served;
      const auto served = all.find(partition);
      return served == all.end() || served->second.last_s < now_s_ - kUnnoticedS ||
             now_s_ - served->second.since_s < kDropAfterMs / kSecondMs;
    });
  }

  void Append(const MetaRecord& record) {
    records_.push_back(EncodeMeta(record));
    const Status taken = truth_.Apply(static_cast<int64_t>(records_.size()) - 1, records_.back());
    ASSERT_TRUE(taken.ok()) << taken.ToString();
  }
  /// Places over some of the nodes, or goes back to the placement before.
  void Place() {
    const Assignment current = truth_.placement().assign;
    Assignment next = before_;
    if (next.empty() || Chance(2)) {
      std::vector<PlaceableNode> some;
      while (some.size() < kReplicas) {
        some.clear();
        for (const PlaceableNode& node : PlaceableNodes(truth_)) {
          if (Chance(2)) some.push_back(node);
        }
      }
      next = Propose(current, some, kPartitions, kReplicas);
    }
    before_ = current;
    Write(next);
  }
  void Write(const Assignment& next) {
    if (next != truth_.placement().assign) Append(PlacementRecord{truth_.placement().offset, next});
  }
  void ReadMeta(SimNode* node) const {
    for (auto at = node->meta.next_offset(); at < truth_.next_offset(); ++at) {
      ASSERT_TRUE(node->meta.Apply(at, records_[static_cast<size_t>(at)]).ok());
    }
  }
  /// What was under way is lost; what was held has to catch up.
  void Crash(SimNode* node) {
    node->down_until_s = now_s_ + 1 + Below(200);
    std::erase_if(node->shards, [&](const auto& one) { return one.second.fetched_at_s > now_s_; });
    for (auto& [partition, shard] : node->shards) {
      shard.serving_at_s = node->down_until_s + Below(20);
    }
    node->views.clear();
    node->serving = {};
  }
  NodeReport ReportOf(const SimNode& node) const {
    NodeReport report;
    report.meta_offset = node.meta.next_offset();
    for (const auto& [partition, shard] : node.shards) {
      report.replicas[partition].state = shard.fetched_at_s > now_s_   ? ReplicaState::kFetching
                                         : shard.serving_at_s > now_s_ ? ReplicaState::kCatchingUp
                                                                       : ReplicaState::kServing;
    }
    return report;
  }

  void Work(size_t number) {
    SimNode& node = nodes_[number];
    for (size_t other = 0; other < nodes_.size(); ++other) {
      NodeView& view = node.views[NodeName(other)];
      if (other != number && (!IsUp(nodes_[other]) || Chance(chances_.lost_probe))) {
        view.health.Missed();
        continue;
      }
      view.health.Answered();
      view.report = ReportOf(nodes_[other]);
    }
    std::set<uint32_t> held, fetching;
    for (const auto& [partition, shard] : node.shards) {
      (shard.fetched_at_s > now_s_ ? fetching : held).insert(partition);
    }
    for (uint32_t p = 0; p < kPartitions; ++p) {
      node.serving.Note(p, ReplicasOf(p, node.meta, node.views), now_s_ * kSecondMs);
    }
    const ShardPlan plan =
        PlanShards(NodeName(number), node.meta, held, fetching, node.serving, now_s_ * kSecondMs);
    for (const uint32_t p : plan.drop) {
      if (IsEarly(node, p)) ++early_drops_;
      node.shards.erase(p);
      ++drops_;
    }
    for (const uint32_t p : plan.fetch) {
      // Somebody who serves is the source.
      if (ReadOrder(ReplicasOf(p, node.meta, node.views)).empty()) continue;
      const int64_t fetched_at_s = now_s_ + 1 + Below(60);
      node.shards[p] = {fetched_at_s, fetched_at_s + Below(20)};
      ++fetches_;
    }
  }

  const Chances chances_;
  std::mt19937_64 random_;
  std::vector<std::string> records_;
  Meta truth_;
  Assignment before_;
  std::vector<SimNode> nodes_;
  int64_t now_s_ = 0;
  size_t drops_ = 0, fetches_ = 0, early_drops_ = 0;
};

TEST(ShardsSimulation, NoPartitionLosesACopyWhileNodesDisagree) {
  const uint64_t seed = test::Seed();
  size_t drops = 0, fetches = 0;
  for (uint64_t run = 0; run < 30; ++run) {
    World world(seed + run, 4 + run % 3, 4, {});
    for (int second = 0; second < 2'000; ++second) {
      world.Second();
      for (uint32_t p = 0; p < kPartitions; ++p) {
        ASSERT_GE(world.Copies(p), kReplicas) << "seed " << seed << " run " << run << " second "
                                              << world.now_s() << " partition " << p;
      }
    }
    EXPECT_EQ(world.early_drops(), 0U) << "seed " << seed << " run " << run;
    drops += world.drops();
    fetches += world.fetches();
  }
  EXPECT_GT(drops, 100u);
  EXPECT_GT(fetches, drops);
}

// A cluster grows from three nodes to four and to five, and shrinks to three, two of them others,
// while single nodes crash and some read the placement late. Readers notice nothing.
TEST(ShardsSimulation, MovesNeverTakeAnAnswerAway) {
  const uint64_t seed = test::Seed();
  size_t drops = 0;
  for (uint64_t run = 0; run < 20; ++run) {
    World world(seed + run, 5, 3, {.place = 0, .crash = 300, .lost_probe = 0, .crash_alone = true});
    const std::pair<size_t, size_t> steps[] = {{0, 4}, {0, 5}, {2, 3}};  // the first, how many
    for (const auto& [first, count] : steps) {
      world.PlaceOver(first, count);
      int seconds = 0;
      do {
        world.Second();
        for (uint32_t p = 0; p < kPartitions; ++p) {
          const auto where = [&, partition = p] {
            return "seed " + std::to_string(seed) + " run " + std::to_string(run) + " second " +
                   std::to_string(world.now_s()) + " partition " + std::to_string(partition);
          };
          ASSERT_GE(world.Serving(p), kReplicas - 1) << where();
          ASSERT_TRUE(world.IsAnsweredEverywhere(p)) << where();
        }
        ASSERT_LT(++seconds, 20'000) << "seed " << seed << " run " << run << ": it does not end";
      } while (seconds < 300 || !world.IsSettled());
    }
    EXPECT_EQ(world.early_drops(), 0U) << "seed " << seed << " run " << run;
    drops += world.drops();
  }
  EXPECT_GT(drops, 100U);
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
