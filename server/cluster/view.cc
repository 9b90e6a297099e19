#include "cluster/view.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace seendb::cluster {
namespace {

constexpr std::array<std::string_view, 3> kNodeStateNames{"up", "suspect", "down"};
constexpr std::array<std::string_view, 5> kReplicaStateNames{"fetching", "catching_up", "serving",
                                                             "behind", "unreachable"};

ReplicaView ViewOf(const std::string& node, uint32_t partition, bool wanted, const Meta& meta,
                   const std::map<std::string, NodeView>& nodes) {
  ReplicaView view{.node = node, .wanted = wanted};
  const auto known = nodes.find(node);
  if (known == nodes.end() || !known->second.report) return view;
  const NodeReport& report = *known->second.report;
  view.node_state = known->second.health.state();
  view.may_lead = !report.stopping && std::abs(known->second.clock_ahead_ms) <= kClockApartMost;
  view.informed = report.meta_offset > meta.placement().offset;
  const auto replica = report.replicas.find(partition);
  if (replica == report.replicas.end()) return view;
  view.last_state = replica->second.state;
  view.report = replica->second;
  if (view.node_state != NodeState::kUp) view.report.state = ReplicaState::kUnreachable;
  return view;
}

bool Answers(const ReplicaView& replica) {
  return replica.node_state != NodeState::kDown && (replica.last_state == ReplicaState::kServing ||
                                                    replica.last_state == ReplicaState::kBehind);
}

}  // namespace

std::string_view NodeStateName(NodeState state) noexcept {
  return kNodeStateNames[static_cast<size_t>(state)];
}

std::string_view ReplicaStateName(ReplicaState state) noexcept {
  return kReplicaStateNames[static_cast<size_t>(state)];
}

std::optional<ReplicaState> ReplicaStateOf(std::string_view name) noexcept {
  const auto known = std::find(kReplicaStateNames.begin(), kReplicaStateNames.end(), name);
  if (known == kReplicaStateNames.end()) return {};
  return static_cast<ReplicaState>(known - kReplicaStateNames.begin());
}

NodeState NodeHealth::state() const {
  if (missed_ >= kMissedMost) return NodeState::kDown;
  return lost_ >= kLostMost ? NodeState::kSuspect : NodeState::kUp;
}

ReplicaState StateOfOpen(bool caught_up, int64_t behind_ms) {
  if (!caught_up) return ReplicaState::kCatchingUp;
  return behind_ms <= kBehindMost ? ReplicaState::kServing : ReplicaState::kBehind;
}

std::vector<ReplicaView> ReplicasOf(uint32_t partition, const Meta& meta,
                                    const std::map<std::string, NodeView>& nodes) {
  std::vector<ReplicaView> replicas;
  const Assignment& assign = meta.placement().assign;
  std::set<std::string> wanted;
  if (partition < assign.size()) {
    for (const std::string& node : assign[partition]) {
      replicas.push_back(ViewOf(node, partition, true, meta, nodes));
      wanted.insert(node);
    }
  }
  for (const auto& [node, view] : nodes) {
    const bool told = view.report && view.report->replicas.contains(partition);
    if (told && !wanted.contains(node)) {
      replicas.push_back(ViewOf(node, partition, false, meta, nodes));
    }
  }
  return replicas;
}

std::vector<size_t> ReadOrder(const std::vector<ReplicaView>& replicas) {
  std::vector<size_t> order;
  for (size_t i = 0; i < replicas.size(); ++i) {
    if (Answers(replicas[i])) order.push_back(i);
  }
  const auto rank = [&](size_t i) {
    const ReplicaView& one = replicas[i];
    const bool behind = one.last_state == ReplicaState::kBehind;
    return std::tuple(one.node_state == NodeState::kSuspect, behind,
                      behind ? -one.report.next_offset : 0);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t one, size_t other) { return rank(one) < rank(other); });
  return order;
}

std::vector<size_t> CopyOrder(const std::vector<ReplicaView>& replicas) {
  std::vector<size_t> order = ReadOrder(replicas);
  const auto serves = [&](size_t i) {
    return replicas[i].node_state == NodeState::kUp &&
           replicas[i].last_state == ReplicaState::kServing;
  };
  const auto others = std::find_if_not(order.begin(), order.end(), serves);
  const std::optional<size_t> leader = ActingPrimary(replicas);
  const auto at = leader ? std::find(order.begin(), others, *leader) : others;
  if (at != others) std::rotate(at, at + 1, others);
  return order;
}

std::optional<size_t> ActingPrimary(const std::vector<ReplicaView>& replicas) {
  for (const size_t i : ReadOrder(replicas)) {
    if (replicas[i].node_state == NodeState::kUp && replicas[i].may_lead) return i;
  }
  return {};
}

void ServingSince::Note(uint32_t partition, const std::vector<ReplicaView>& replicas,
                        int64_t now_ms) {
  bool any = false, all = true;
  std::vector<std::string> wanted;
  for (const ReplicaView& replica : replicas) {
    if (!replica.wanted) continue;
    any = true;
    wanted.push_back(replica.node);
    all = all && replica.informed && replica.report.state == ReplicaState::kServing;
  }
  if (any && all) {
    Since& since = since_.try_emplace(partition).first->second;
    if (since.wanted != wanted) since = {std::move(wanted), now_ms};
  } else {
    since_.erase(partition);
  }
}

bool ServingSince::LongEnough(uint32_t partition, int64_t now_ms) const {
  const auto since = since_.find(partition);
  return since != since_.end() && now_ms - since->second.at_ms >= kDropAfterMs;
}

ShardPlan PlanShards(const std::string& node, const Meta& meta, const std::set<uint32_t>& held,
                     const std::set<uint32_t>& fetching, const ServingSince& serving,
                     int64_t now_ms) {
  ShardPlan plan;
  const Assignment& assign = meta.placement().assign;
  for (uint32_t p = 0; p < assign.size(); ++p) {
    const bool wanted = std::find(assign[p].begin(), assign[p].end(), node) != assign[p].end();
    const bool has = held.contains(p);
    if (wanted && !has && !fetching.contains(p) &&
        fetching.size() + plan.fetch.size() < kFetchesMost) {
      plan.fetch.push_back(p);
    }
    if (!wanted && has && serving.LongEnough(p, now_ms)) plan.drop.push_back(p);
  }
  return plan;
}

}  // namespace seendb::cluster
