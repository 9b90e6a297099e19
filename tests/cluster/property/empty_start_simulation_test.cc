// Nodes that lack a shard and look for one who has it, while nodes are down, open their databases,
// catch up, lose their disks, read placements late and miss probes. None begins a shard empty while
// another one has it, on a disk that nobody can ask too. Deterministic by the seed.

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/empty_start.h"
#include "cluster/placement.h"
#include "support/seed.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

constexpr uint32_t kShards = 4;
constexpr uint32_t kCopiesWanted = 2;
constexpr int64_t kRoundMs = 1'000;
/// Two nodes may begin a shard at the same time, each by answers of before: as the log says, both
/// are whole. Only afterwards a replica has what the log lacks.
constexpr int64_t kAtOnceMs = 12'000;

std::string NameOf(size_t i) { return "n" + std::to_string(i + 1); }

struct DiskShard {
  int64_t since_ms = 0;      ///< when it began, anywhere
  int64_t serves_at_ms = 0;  ///< until then it catches up
};
struct Fetching {
  size_t from = 0;
  int64_t done_at_ms = 0;
  DiskShard copy;
};
struct Machine {
  Meta meta;
  std::map<uint32_t, DiskShard> disk;
  // Of the process:
  std::string incarnation = "0";
  int64_t down_until_ms = 0, open_at_ms = 0, deaf_until_ms = 0;
  std::map<std::string, NodeView> views;
  std::map<uint32_t, EmptyStart> empty;
  std::map<uint32_t, Fetching> fetching;
};

struct Odds {  // one time in so many rounds; 0: never
  int64_t crash = 60, wipe = 2, place = 40, deaf = 80, lost_probe = 6;
};

class Cluster {
 public:
  Cluster(uint64_t seed, size_t nodes, bool has_past, Odds odds)
      : odds_(odds), random_(seed), nodes_(nodes) {
    Write(InitRecord{.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
                     .partitions = kShards,
                     .replicas = kCopiesWanted,
                     .hash = 1,
                     .at_ms = has_past ? 0 : 1});
    for (size_t i = 0; i < nodes; ++i) {
      Write(
          MemberRecord{.node = NameOf(i), .url = "http://" + NameOf(i) + ":1", .zone = NameOf(i)});
    }
    Write(PlacementRecord{-1, Propose({}, PlaceableNodes(truth_), kShards, kCopiesWanted)});
    if (has_past) {  // the database lies at one node, which is to have some of it
      for (uint32_t p = 0; p < kShards; ++p) nodes_[0].disk[p] = {};
    }
    for (Machine& node : nodes_) {
      node.down_until_ms = Below(20'000);
      node.open_at_ms = node.down_until_ms + Below(10'000);
      ReadOn(&node);
    }
  }

  void Round(bool calm) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!calm) Trouble(i);
    }
    if (!calm && Chance(odds_.place)) Place();
    std::vector<size_t> order(nodes_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    for (const size_t i : order) {
      now_ms_ += kRoundMs / static_cast<int64_t>(nodes_.size() + 1);
      if (IsUp(nodes_[i])) Work(i, calm);
    }
    now_ms_ += kRoundMs / static_cast<int64_t>(nodes_.size() + 1);
  }

  /// What begins beside a shard that is on some disk.
  size_t losses() const { return losses_; }
  size_t begun() const { return begun_; }
  size_t fetched() const { return fetched_; }
  /// Each node has what is wanted of it.
  bool IsWhole() const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (uint32_t p = 0; p < kShards; ++p) {
        const auto& list = truth_.placement().assign[p];
        const bool wanted = std::ranges::count(list, NameOf(i)) > 0;
        if (wanted && !nodes_[i].disk.contains(p)) return false;
      }
    }
    return true;
  }
  bool IsOnSomeDisk(uint32_t partition) const {
    return std::ranges::any_of(nodes_,
                               [&](const Machine& node) { return node.disk.contains(partition); });
  }

 private:
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  bool Chance(int64_t one_in) { return one_in > 0 && Below(one_in) == 0; }
  bool IsUp(const Machine& node) const { return node.down_until_ms <= now_ms_; }
  bool IsOpen(const Machine& node) const { return IsUp(node) && node.open_at_ms <= now_ms_; }

  void Write(const MetaRecord& record) {
    records_.push_back(EncodeMeta(record));
    ASSERT_TRUE(truth_.Apply(static_cast<int64_t>(records_.size()) - 1, records_.back()).ok());
  }
  void ReadOn(Machine* node) const {
    for (auto at = node->meta.next_offset(); at < truth_.next_offset(); ++at) {
      ASSERT_TRUE(node->meta.Apply(at, records_[static_cast<size_t>(at)]).ok());
    }
  }
  void Place() {
    std::vector<PlaceableNode> some;
    while (some.size() < kCopiesWanted) {
      some.clear();
      for (const PlaceableNode& node : PlaceableNodes(truth_)) {
        if (Chance(2)) some.push_back(node);
      }
    }
    const Assignment next = Propose(truth_.placement().assign, some, kShards, kCopiesWanted);
    if (next == truth_.placement().assign) return;
    Write(PlacementRecord{truth_.placement().offset, next});
  }
  /// It ends, is away for a while, maybe comes back without its disk, and opens its database.
  void Trouble(size_t i) {
    Machine& node = nodes_[i];
    if (IsUp(node) && Chance(odds_.deaf)) node.deaf_until_ms = now_ms_ + Below(60'000);
    if (!IsUp(node) || !Chance(odds_.crash)) return;
    node.down_until_ms = now_ms_ + 500 + Below(60'000);
    node.open_at_ms = node.down_until_ms + Below(10'000);
    node.incarnation = std::to_string(random_());
    node.views.clear();
    node.empty.clear();
    node.fetching.clear();
    if (Chance(odds_.wipe)) {
      node.disk.clear();
      node.meta = Meta();
      ReadOn(&node);
    }
    for (auto& [partition, shard] : node.disk) {
      shard.serves_at_ms = node.open_at_ms + Below(40'000);
    }
  }

  NodeReport ReportOf(const Machine& node) const {
    NodeReport report;
    report.incarnation = node.incarnation;
    report.meta_offset = node.meta.next_offset();
    if (!IsOpen(node)) return report;
    for (const auto& [partition, fetching] : node.fetching) {
      report.replicas[partition].state = ReplicaState::kFetching;
    }
    for (const auto& [partition, shard] : node.disk) {
      report.replicas[partition].state =
          shard.serves_at_ms <= now_ms_ ? ReplicaState::kServing : ReplicaState::kCatchingUp;
    }
    for (uint32_t p = 0; p < kShards; ++p) {
      if (!node.disk.contains(p)) report.none.insert(p);
    }
    return report;
  }

  void Work(size_t i, bool calm) {
    Machine& node = nodes_[i];
    if (calm || node.deaf_until_ms <= now_ms_) ReadOn(&node);
    for (size_t other = 0; other < nodes_.size(); ++other) {
      NodeView& view = node.views[NameOf(other)];
      if (other != i && (!IsUp(nodes_[other]) || (!calm && Chance(odds_.lost_probe)))) {
        view.health.Missed();
        continue;
      }
      view.health.Answered();
      view.report = ReportOf(nodes_[other]);
      view.asked_ms = now_ms_ - 1;
      view.answered_ms = now_ms_ + 1;
    }
    if (!IsOpen(node)) return;
    std::erase_if(node.fetching,
                  [&](auto& one) { return EndOfFetch(&node, one.first, one.second); });
    for (uint32_t p = 0; p < kShards; ++p) {
      const auto& list = node.meta.placement().assign[p];
      const bool wanted = std::ranges::count(list, NameOf(i)) > 0;
      if (wanted && !node.disk.contains(p) && !node.fetching.contains(p)) Look(i, p);
    }
  }
  /// It comes, or its source ends before.
  bool EndOfFetch(Machine* node, uint32_t partition, const Fetching& fetching) {
    const Machine& source = nodes_[fetching.from];
    if (!IsUp(source) || !source.disk.contains(partition)) return true;
    if (fetching.done_at_ms > now_ms_) return false;
    node->disk[partition] = {fetching.copy.since_ms, now_ms_ + Below(20'000)};
    node->empty.erase(partition);
    ++fetched_;
    return true;
  }
  void Look(size_t i, uint32_t partition) {
    Machine& node = nodes_[i];
    const auto replicas = ReplicasOf(partition, node.meta, node.views);
    for (const size_t at : CopyOrder(replicas)) {
      const size_t from = std::stoul(replicas[at].node.substr(1)) - 1;
      const Machine& source = nodes_[from];
      if (!IsOpen(source) || !source.disk.contains(partition)) continue;
      node.fetching[partition] = {from, now_ms_ + Below(20'000), source.disk.at(partition)};
      return;
    }
    EmptyStart& empty = node.empty[partition];
    empty.Note(NameOf(i), partition, node.meta, node.views);
    if (!empty.Objection(node.meta, now_ms_).empty()) return;
    ReadOn(&node);  // as the keeper does before it begins one empty
    empty.Note(NameOf(i), partition, node.meta, node.views);
    if (!empty.Objection(node.meta, now_ms_).empty()) return;
    for (const Machine& other : nodes_) {
      const auto has = other.disk.find(partition);
      if (has != other.disk.end() && has->second.since_ms < now_ms_ - kAtOnceMs) ++losses_;
    }
    node.disk[partition] = {now_ms_, now_ms_ + Below(20'000)};
    ++begun_;
  }

  const Odds odds_;
  std::mt19937_64 random_;
  std::vector<std::string> records_;
  Meta truth_;
  std::vector<Machine> nodes_;
  int64_t now_ms_ = 100'000;
  size_t losses_ = 0, begun_ = 0, fetched_ = 0;
};

TEST(EmptyStartSimulation, NothingBeginsEmptyWhileAnotherHasIt) {
  const uint64_t seed = test::Seed();
  size_t begun = 0, fetched = 0;
  for (uint64_t run = 0; run < 60; ++run) {
    Cluster cluster(seed + run, 2 + run % 4, /*has_past=*/false, {});
    for (int round = 0; round < 1'000; ++round) {
      cluster.Round(/*calm=*/false);
      ASSERT_EQ(cluster.losses(), 0U) << "seed " << seed << " run " << run << " round " << round;
    }
    // Whether a copy is left, or all disks are gone: with all nodes up, all is there again.
    for (int round = 0; round < 200; ++round) cluster.Round(/*calm=*/true);
    EXPECT_TRUE(cluster.IsWhole()) << "seed " << seed << " run " << run;
    EXPECT_EQ(cluster.losses(), 0U) << "seed " << seed << " run " << run;
    begun += cluster.begun();
    fetched += cluster.fetched();
  }
  EXPECT_GT(begun, 200U);
  EXPECT_GT(fetched, 500U);
}

TEST(EmptyStartSimulation, NothingBeginsEmptyInAClusterThatHasAPast) {
  const uint64_t seed = test::Seed();
  size_t fetched = 0;
  for (uint64_t run = 0; run < 40; ++run) {
    Cluster cluster(seed + run, 2 + run % 4, /*has_past=*/true, {.wipe = run % 2 == 0 ? 0 : 20});
    for (int round = 0; round < 500; ++round) cluster.Round(/*calm=*/false);
    for (int round = 0; round < 200; ++round) cluster.Round(/*calm=*/true);
    EXPECT_EQ(cluster.begun(), 0U) << "seed " << seed << " run " << run;
    bool whole = true;
    for (uint32_t p = 0; p < kShards; ++p) whole = whole && cluster.IsOnSomeDisk(p);
    EXPECT_TRUE(whole || run % 2 != 0);
    EXPECT_EQ(cluster.IsWhole(), whole) << "seed " << seed << " run " << run;
    fetched += cluster.fetched();
  }
  EXPECT_GT(fetched, 100U);
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
