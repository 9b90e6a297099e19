#include "cluster/view.h"

#include <algorithm>
#include <array>
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
  view.may_lead = !report.stopping && !known->second.clock_wrong;
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

void JudgeClocks(std::map<std::string, NodeView>* nodes) {
  std::vector<int64_t> clocks;
  for (auto& [node, view] : *nodes) {
    view.clock_wrong = false;
    if (view.health.state() == NodeState::kUp && view.report) clocks.push_back(view.clock_ahead_ms);
  }
  std::sort(clocks.begin(), clocks.end());
  if (clocks.empty() || clocks.back() - clocks.front() <= kClockApartMost) return;
  // From each clock on, those that agree with it: the most that agree without one are among these.
  struct Agreeing {
    int64_t first = 0, last = 0;
    std::ptrdiff_t count = 0;
  };
  std::vector<Agreeing> groups;
  for (auto from = clocks.begin(); from != clocks.end(); ++from) {
    const auto to = std::upper_bound(from, clocks.end(), *from + kClockApartMost);
    groups.push_back({*from, *(to - 1), to - from});
  }
  for (auto& [node, view] : *nodes) {
    if (view.health.state() != NodeState::kUp || !view.report) continue;
    const int64_t own = view.clock_ahead_ms;
    std::ptrdiff_t with = 0, against = 0;
    for (const Agreeing& group : groups) {
      const bool apart = group.last < own - kClockApartMost || group.first > own + kClockApartMost;
      if (apart) against = std::max(against, group.count);
      if (group.first <= own && own <= group.last) with = std::max(with, group.count);
    }
    view.clock_wrong = against >= 2 && against > with;
  }
}

int64_t SurelyAhead(int64_t ahead_ms, int64_t error_ms) {
  if (ahead_ms > error_ms) return ahead_ms - error_ms;
  return ahead_ms < -error_ms ? ahead_ms + error_ms : 0;
}

// Figures would be another problem with each look.
std::vector<std::string> ClockProblems(const std::string& self,
                                       const std::map<std::string, NodeView>& nodes) {
  std::vector<std::string> problems;
  for (const auto& [node, view] : nodes) {
    if (view.health.state() != NodeState::kUp || !view.report) continue;
    if (node == self && view.clock_wrong) {
      problems.push_back(
          "this node's clock is more than 30 s apart from those of other nodes, which agree: it "
          "leads nothing until it is set right");
    }
    const int64_t apart_ms = view.clock_ahead_ms < 0 ? -view.clock_ahead_ms : view.clock_ahead_ms;
    if (node == self || apart_ms <= kClockToldMost) continue;
    problems.push_back("the clock of node " + node + " is more than " +
                       (apart_ms > kClockApartMost ? "30 s" : "500 ms") +
                       (view.clock_ahead_ms < 0 ? " behind" : " ahead of") + " this node's" +
                       (view.clock_wrong ? ", and wrong: it leads nothing" : ""));
  }
  return problems;
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
  std::optional<size_t> cut_off;
  for (const size_t i : ReadOrder(replicas)) {
    if (replicas[i].node_state != NodeState::kUp || !replicas[i].may_lead) continue;
    if (!replicas[i].report.cut_off) return i;
    if (!cut_off) cut_off = i;
  }
  return cut_off;
}

std::optional<size_t> TickPlace(uint32_t partition, const std::string& node, const Meta& meta,
                                const std::map<std::string, NodeView>& nodes) {
  const Assignment& assign = meta.placement().assign;
  if (partition >= assign.size()) return {};
  size_t place = 0;
  for (const std::string& one : assign[partition]) {
    if (one == node) return place;
    const auto view = nodes.find(one);
    const bool up = view != nodes.end() && view->second.health.state() == NodeState::kUp;
    place += up ? 1 : 0;
  }
  return {};
}

std::string PartitionsText(const std::vector<uint32_t>& partitions) {
  constexpr size_t kShownMost = 8;
  std::string text = partitions.size() == 1 ? "partition" : "partitions";
  for (size_t i = 0; i < partitions.size() && i < kShownMost; ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(partitions[i]);
  }
  if (partitions.size() <= kShownMost) return text;
  return text + " and " + std::to_string(partitions.size() - kShownMost) + " more";
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
                     int64_t now_ms, uint32_t first) {
  ShardPlan plan;
  const Assignment& assign = meta.placement().assign;
  const auto count = static_cast<uint32_t>(assign.size());
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t p = (first + i) % count;
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
