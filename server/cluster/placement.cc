#include "cluster/placement.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace seendb::cluster {
namespace {

constexpr size_t kNobody = std::numeric_limits<size_t>::max();

/// A placement in the making. Nodes and zones are numbers.
class Draft {
 public:
  Draft(const Assignment& current, const std::vector<PlaceableNode>& nodes, uint32_t partitions,
        uint32_t replicas)
      : nodes_(nodes),
        replicas_(std::min<size_t>(replicas, nodes.size())),
        lists_(partitions),
        load_(nodes.size(), 0),
        leads_(nodes.size(), 0),
        shared_(nodes.size() * nodes.size(), 0),
        led_beside_(nodes.size() * nodes.size(), 0) {
    std::map<std::string, size_t> numbers, zones;
    for (size_t i = 0; i < nodes.size(); ++i) {
      numbers[nodes[i].name] = i;
      zone_.push_back(zones.emplace(nodes[i].zone, zones.size()).first->second);
    }
    for (size_t p = 0; p < std::min<size_t>(partitions, current.size()); ++p) {
      for (const std::string& name : current[p]) {
        const auto known = numbers.find(name);
        if (known != numbers.end() && !Has(p, known->second)) Add(p, known->second);
      }
    }
  }

  void Trim() {
    for (size_t p = 0; p < lists_.size(); ++p) {
      while (lists_[p].size() > replicas_) {
        size_t worst = 0;
        for (size_t at = 1; at < lists_[p].size(); ++at) {
          if (Crowd(p, zone_[lists_[p][at]]) >= Crowd(p, zone_[lists_[p][worst]])) worst = at;
        }
        Drop(p, lists_[p][worst]);
      }
    }
  }

  void Fill() {
    for (size_t p = 0; p < lists_.size(); ++p) {
      if (!lists_[p].empty()) CountLead(p);
    }
    held_ = lists_;
    for (size_t p = 0; p < lists_.size(); ++p) {
      while (lists_[p].size() < replicas_) Add(p, BestFor(p));
      if (!held_[p].empty()) continue;
      ChooseFirst(p);
      CountLead(p);
    }
  }

  /// Moves replicas out of zones that a partition crowds, though others have room for it.
  void Spread() {
    for (size_t p = 0; p < lists_.size(); ++p) {
      for (size_t at = lists_[p].size(); at-- > 0;) {
        const size_t from = lists_[p][at];
        const size_t to = BestFor(p);
        if (to == kNobody || Crowd(p, zone_[to]) + 1 >= Crowd(p, zone_[from])) continue;
        Replace(p, from, to);
      }
    }
  }

  /// First with the replicas that are new anyhow: only what was held costs a copy.
  void Balance() {
    for (const bool only_new : {true, false}) {
      Level(
          load_,
          [this, only_new](size_t from, size_t to) { return PartitionToMove(from, to, only_new); },
          [this](size_t p, size_t from, size_t to) { Replace(p, from, to); });
    }
  }

  void BalancePrimaries() {
    for (const auto& list : lists_) ++leads_[list.front()];
    Level(
        leads_, [this](size_t from, size_t to) { return PartitionToLead(from, to); },
        [this](size_t p, size_t from, size_t to) {
          std::iter_swap(lists_[p].begin(), std::find(lists_[p].begin(), lists_[p].end(), to));
          --leads_[from];
          ++leads_[to];
        });
  }

  Assignment Named() const {
    Assignment assign(lists_.size());
    for (size_t p = 0; p < lists_.size(); ++p) {
      for (const size_t node : lists_[p]) assign[p].push_back(nodes_[node].name);
    }
    return assign;
  }

 private:
  bool Has(size_t p, size_t node) const {
    return std::find(lists_[p].begin(), lists_[p].end(), node) != lists_[p].end();
  }
  bool WasHeld(size_t p, size_t node) const {
    return std::find(held_[p].begin(), held_[p].end(), node) != held_[p].end();
  }
  /// Partitions that `one` leads and `other` holds: those that may go over to it.
  int64_t& LedBeside(size_t one, size_t other) { return led_beside_[one * nodes_.size() + other]; }
  void CountLead(size_t p) {
    for (const size_t other : lists_[p]) ++LedBeside(lists_[p].front(), other);
  }
  /// Makes the replica the first of a new list that leads the least beside the others of it, so
  /// that what a node leads goes over to many when it dies.
  void ChooseFirst(size_t p) {
    const auto excess = [&](size_t node) {
      int64_t sum = 0;
      for (const size_t other : lists_[p]) sum += LedBeside(node, other) - LedBeside(other, node);
      return sum;
    };
    std::iter_swap(lists_[p].begin(),
                   std::min_element(lists_[p].begin(), lists_[p].end(),
                                    [&](size_t a, size_t b) { return excess(a) < excess(b); }));
  }
  /// Replicas of the partition in a zone.
  size_t Crowd(size_t p, size_t zone) const {
    return static_cast<size_t>(std::count_if(lists_[p].begin(), lists_[p].end(),
                                             [&](size_t node) { return zone_[node] == zone; }));
  }
  /// Partitions that two nodes share; pairs that share few spread a dead node's work.
  uint32_t& Shared(size_t one, size_t other) { return shared_[one * nodes_.size() + other]; }
  void CountShared(size_t p, size_t node, uint32_t change) {
    for (const size_t other : lists_[p]) {
      if (other == node) continue;
      Shared(node, other) += change;
      Shared(other, node) += change;
    }
  }
  void Add(size_t p, size_t node) {
    lists_[p].push_back(node);
    ++load_[node];
    CountShared(p, node, 1);
  }
  void Drop(size_t p, size_t node) {
    CountShared(p, node, ~0u);
    --load_[node];
    lists_[p].erase(std::find(lists_[p].begin(), lists_[p].end(), node));
  }
  /// In the same place of the list.
  void Replace(size_t p, size_t from, size_t to) {
    CountShared(p, from, ~0u);
    --load_[from];
    *std::find(lists_[p].begin(), lists_[p].end(), from) = to;
    ++load_[to];
    CountShared(p, to, 1);
  }
  uint32_t SharedWith(size_t p, size_t node) {
    uint32_t sum = 0;
    for (const size_t other : lists_[p]) sum += other == node ? 0 : Shared(node, other);
    return sum;
  }
  /// The node for one more replica of the partition, or kNobody.
  size_t BestFor(size_t p) {
    size_t best = kNobody;
    std::tuple<size_t, double, uint32_t> best_rank;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      if (Has(p, node)) continue;
      const std::tuple rank(Crowd(p, zone_[node]),
                            static_cast<double>(load_[node] + 1) / nodes_[node].weight,
                            SharedWith(p, node));
      if (best != kNobody && !(rank < best_rank)) continue;
      best = node;
      best_rank = rank;
    }
    return best;
  }
  /// Whether one replica more at `to` and one less at `from` brings their loads nearer: the test of
  /// Sainte-Lague's method, which apportions whole seats by weights. It lowers the sum of
  /// load^2 / weight, so that a sequence of such moves ends.
  bool IsNearer(const std::vector<int64_t>& load, size_t from, size_t to) const {
    constexpr double kSlack = 1e-9;
    return (static_cast<double>(load[to]) + 0.5) / nodes_[to].weight + kSlack <
           (static_cast<double>(load[from]) - 0.5) / nodes_[from].weight;
  }
  std::optional<size_t> PartitionToMove(size_t from, size_t to, bool only_new) {
    std::optional<size_t> best;
    uint32_t best_shared = 0;
    for (size_t p = 0; p < lists_.size(); ++p) {
      if (!Has(p, from) || Has(p, to) || (only_new && WasHeld(p, from))) continue;
      if (zone_[from] != zone_[to] && Crowd(p, zone_[to]) + 1 > Crowd(p, zone_[from])) continue;
      const uint32_t shared = SharedWith(p, to);
      if (best && shared >= best_shared) continue;
      best = p;
      best_shared = shared;
    }
    return best;
  }
  std::optional<size_t> PartitionToLead(size_t from, size_t to) {
    for (size_t p = 0; p < lists_.size(); ++p) {
      if (lists_[p].front() == from && Has(p, to)) return p;
    }
    return {};
  }

  /// Moves one unit at a time from the most to the least loaded node, directly or over others,
  /// until no move helps. `find` gives a partition that can go from one node to another.
  template <typename Find, typename Move>
  void Level(const std::vector<int64_t>& load, Find find, Move move) {
    std::vector<size_t> by_load(nodes_.size());
    for (size_t i = 0; i < by_load.size(); ++i) by_load[i] = i;
    const auto lighter = [&](size_t one, size_t other) {
      return std::pair(static_cast<double>(load[one]) / nodes_[one].weight, one) <
             std::pair(static_cast<double>(load[other]) / nodes_[other].weight, other);
    };
    for (bool moved = true; moved;) {
      std::sort(by_load.begin(), by_load.end(), lighter);
      const auto any = [&](auto relieve) {
        return std::any_of(by_load.rbegin(), by_load.rend(), relieve);
      };
      moved = any([&](size_t from) { return Relieve(load, from, by_load, find, move); }) ||
              any([&](size_t from) { return RelieveOverOthers(load, from, by_load, find, move); });
    }
  }

  /// Takes one unit from a node: to the lightest one that it can go to.
  template <typename Find, typename Move>
  bool Relieve(const std::vector<int64_t>& load, size_t from, const std::vector<size_t>& by_load,
               Find find, Move move) {
    for (const size_t to : by_load) {
      if (!IsNearer(load, from, to)) continue;
      if (const auto p = find(from, to)) return move(*p, from, to), true;
    }
    return false;
  }

  /// The shortest chain of moves from a node to one that is nearer, each over the next node. Those
  /// between pass on as much as they get.
  template <typename Find, typename Move>
  bool RelieveOverOthers(const std::vector<int64_t>& load, size_t from,
                         const std::vector<size_t>& by_load, Find find, Move move) {
    if (std::none_of(by_load.begin(), by_load.end(),
                     [&](size_t to) { return IsNearer(load, from, to); })) {
      return false;
    }
    std::vector<size_t> came_from(nodes_.size(), kNobody), queue{from};
    for (size_t next = 0; next < queue.size(); ++next) {
      const size_t at = queue[next];
      for (size_t to = 0; to < nodes_.size(); ++to) {
        if (to == from || came_from[to] != kNobody || !find(at, to)) continue;
        came_from[to] = at;
        queue.push_back(to);
        if (IsNearer(load, from, to)) return FollowChain(came_from, from, to, find, move);
      }
    }
    return false;
  }

  /// Makes the moves of a chain, the last first. A move may have made another one impossible: then
  /// all is as before.
  template <typename Find, typename Move>
  bool FollowChain(const std::vector<size_t>& came_from, size_t from, size_t to, Find find,
                   Move move) {
    Draft before(*this);
    for (size_t at = to; at != from; at = came_from[at]) {
      const auto p = find(came_from[at], at);
      if (!p) return Restore(before), false;
      move(*p, came_from[at], at);
    }
    return true;
  }
  void Restore(Draft& before) {
    lists_.swap(before.lists_);
    load_.swap(before.load_);
    leads_.swap(before.leads_);
    shared_.swap(before.shared_);
  }

  const std::vector<PlaceableNode>& nodes_;
  const size_t replicas_;
  std::vector<size_t> zone_;                // of each node
  std::vector<std::vector<size_t>> lists_;  // nodes of each partition
  std::vector<int64_t> load_, leads_;       // replicas and primaries of each node
  std::vector<std::vector<size_t>> held_;   // the lists before anything was added
  std::vector<uint32_t> shared_;
  std::vector<int64_t> led_beside_;
};

}  // namespace

std::vector<PlaceableNode> PlaceableNodes(const Meta& meta) {
  std::vector<PlaceableNode> nodes;
  for (const auto& [name, member] : meta.members()) {
    if (!member.leaving) nodes.push_back({name, member.zone, member.weight});
  }
  return nodes;
}

Assignment Propose(const Assignment& current, const std::vector<PlaceableNode>& nodes,
                   uint32_t partitions, uint32_t replicas) {
  assert(!nodes.empty());
  Draft draft(current, nodes, partitions, replicas);
  draft.Trim();
  draft.Fill();
  draft.Spread();
  draft.Balance();
  draft.BalancePrimaries();
  return draft.Named();
}

std::vector<PlacementMove> MovesBetween(const Assignment& from, const Assignment& to) {
  const std::vector<std::string> nothing;
  const auto has = [](const std::vector<std::string>& list, const std::string& node) {
    return std::find(list.begin(), list.end(), node) != list.end();
  };
  std::vector<PlacementMove> moves;
  for (size_t p = 0; p < std::max(from.size(), to.size()); ++p) {
    const auto& before = p < from.size() ? from[p] : nothing;
    const auto& after = p < to.size() ? to[p] : nothing;
    const auto add = [&](const std::string& node, PlacementMove::What what) {
      moves.push_back({static_cast<uint32_t>(p), node, what});
    };
    for (const std::string& node : after) {
      if (!has(before, node)) add(node, PlacementMove::What::kAdded);
    }
    for (const std::string& node : before) {
      if (!has(after, node)) add(node, PlacementMove::What::kRemoved);
    }
    if (!before.empty() && !after.empty() && before[0] != after[0] && has(before, after[0])) {
      add(after[0], PlacementMove::What::kLeads);
    }
  }
  return moves;
}

Result<Assignment> MoveReplica(const Assignment& current, uint32_t partition,
                               const std::string& from, const std::string& to) {
  if (partition >= current.size()) {
    return Status::InvalidArgument("there is no partition " + std::to_string(partition),
                                   "/partition");
  }
  Assignment moved = current;
  std::vector<std::string>& list = moved[partition];
  const auto place = std::find(list.begin(), list.end(), from);
  const std::string what = " partition " + std::to_string(partition);
  if (place == list.end()) return Status::InvalidArgument(from + " does not hold" + what, "/from");
  if (std::find(list.begin(), list.end(), to) != list.end()) {
    return Status::InvalidArgument(to + " holds" + what, "/to");
  }
  *place = to;
  return moved;
}

}  // namespace seendb::cluster
