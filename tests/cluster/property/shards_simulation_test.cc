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

namespace seendb::cluster {
namespace {

constexpr uint32_t kPartitions = 6;
constexpr uint32_t kReplicas = 2;
constexpr int64_t kSecondMs = 1'000;

std::string NodeName(size_t i) { return "n" + std::to_string(i + 1); }

/// A shard at a node. It is whole once it was fetched.
struct SimShard {
  int64_t fetched_at_s = 0, serving_at_s = 0;
};

struct SimNode {
  Meta meta;
  std::map<uint32_t, SimShard> shards;
  std::map<std::string, NodeView> views;
  ServingSince serving;
  int64_t down_until_s = 0, deaf_until_s = 0;  // deaf: it reads nothing of X.meta
};

class World {
 public:
  World(uint64_t seed, size_t nodes) : random_(seed), nodes_(nodes) {
    Append(InitRecord{.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
                      .partitions = kPartitions,
                      .replicas = kReplicas,
                      .hash = 1});
    for (size_t i = 0; i < nodes; ++i) {
      Append(MemberRecord{
          .node = NodeName(i), .url = "http://" + NodeName(i) + ":1", .zone = NodeName(i)});
    }
    Place();
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
    if (Chance(60)) Place();
    for (SimNode& node : nodes_) {
      if (IsUp(node) && Chance(400)) Crash(&node);
      if (IsUp(node) && Chance(80)) node.deaf_until_s = now_s_ + Below(400);
      if (IsUp(node) && node.deaf_until_s <= now_s_) ReadMeta(&node);
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (IsUp(nodes_[i])) Work(i);
    }
  }

  /// Whole copies of a partition, on nodes that are down too: their disks are as they were.
  size_t Copies(uint32_t partition) const {
    return static_cast<size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [&](const SimNode& node) {
          const auto shard = node.shards.find(partition);
          return shard != node.shards.end() && shard->second.fetched_at_s <= now_s_;
        }));
  }
  int64_t now_s() const { return now_s_; }
  size_t drops() const { return drops_; }
  size_t fetches() const { return fetches_; }

 private:
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  bool Chance(int64_t one_in) { return Below(one_in) == 0; }
  bool IsUp(const SimNode& node) const { return node.down_until_s <= now_s_; }

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
    if (next != current) Append(PlacementRecord{truth_.placement().offset, next});
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
      if (other != number && (!IsUp(nodes_[other]) || Chance(10))) {
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

  std::mt19937_64 random_;
  std::vector<std::string> records_;
  Meta truth_;
  Assignment before_;
  std::vector<SimNode> nodes_;
  int64_t now_s_ = 0;
  size_t drops_ = 0, fetches_ = 0;
};

TEST(ShardsSimulation, NoPartitionLosesACopyWhileNodesDisagree) {
  const uint64_t seed = test::Seed();
  size_t drops = 0, fetches = 0;
  for (uint64_t run = 0; run < 30; ++run) {
    World world(seed + run, 4 + run % 3);
    for (int second = 0; second < 2'000; ++second) {
      world.Second();
      for (uint32_t p = 0; p < kPartitions; ++p) {
        ASSERT_GE(world.Copies(p), kReplicas) << "seed " << seed << " run " << run << " second "
                                              << world.now_s() << " partition " << p;
      }
    }
    drops += world.drops();
    fetches += world.fetches();
  }
  EXPECT_GT(drops, 100u);
  EXPECT_GT(fetches, drops);
}

}  // namespace
}  // namespace seendb::cluster
