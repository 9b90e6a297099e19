#include "cluster/empty_start.h"

#include <algorithm>
#include <limits>

namespace seendb::cluster {
namespace {

/// Why the node does not count as one that has none; empty: it says that it has none.
std::string WhyNot(const std::string& node, uint32_t partition,
                   const std::map<std::string, NodeView>& nodes) {
  if (node == kOtherNodes) return "more nodes had it than are remembered";
  const auto known = nodes.find(node);
  if (known == nodes.end()) return node + ", which had it, is no member";
  const NodeView& view = known->second;
  if (!view.report || view.health.state() == NodeState::kDown) return node + " does not answer";
  if (view.report->none.contains(partition)) return {};
  const auto replica = view.report->replicas.find(partition);
  if (replica == view.report->replicas.end()) return node + " does not say that it has none";
  return node + " has it (" + std::string(ReplicaStateName(replica->second.state)) + ")";
}

}  // namespace

void EmptyStart::Note(const std::string& self, uint32_t partition, const Meta& meta,
                      const std::map<std::string, NodeView>& nodes) {
  std::set<std::string> asked = meta.EverNamed(partition);
  for (const auto& [node, view] : nodes) {
    const bool tells = view.report && view.report->replicas.contains(partition);
    if (tells || view.health.state() != NodeState::kDown) asked.insert(node);
  }
  asked.erase(self);
  silent_.clear();
  std::erase_if(said_, [&](const auto& one) { return !asked.contains(one.first); });
  for (const std::string& node : asked) {
    if (std::string why = WhyNot(node, partition, nodes); !why.empty()) {
      said_.erase(node);
      silent_[node] = std::move(why);
      continue;
    }
    const NodeView& view = nodes.at(node);
    Said& said = said_[node];
    if (said.incarnation != view.report->incarnation) {
      said = {view.report->incarnation, view.answered_ms, view.asked_ms};
    }
    said.to_ms = std::max(said.to_ms, view.asked_ms);
  }
}

std::string EmptyStart::Objection(const Meta& meta, int64_t now_ms) const {
  if (!silent_.empty()) return silent_.begin()->second;
  int64_t from_ms = std::numeric_limits<int64_t>::min();
  int64_t to_ms = std::numeric_limits<int64_t>::max();
  for (const auto& [node, said] : said_) {
    from_ms = std::max(from_ms, said.from_ms);
    to_ms = std::min(to_ms, said.to_ms);
    if (now_ms - said.to_ms > kNoneSaidMostMs) return node + " has not said so lately";
  }
  if (from_ms > to_ms) return "the nodes are asked once more";
  if (!meta.init() || !meta.init()->has_past()) return {};
  return "no node has it, and the cluster was made from a database: what that holds is not in the "
         "log";
}

}  // namespace seendb::cluster
