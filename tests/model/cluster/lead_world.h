// tests/model/cluster/lead_world.h: who leads a shard, and what a question is answered. n0 and n1
// hold it, n2 is asked as well. Each node goes by what the others said when it probed them last;
// nodes die, and are cut off from the log. The shard is that of partition 0.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/cluster/real.h"
#include "model/cluster/table.h"

namespace seendb::cluster_model {

inline constexpr int kHolders = 2;  ///< nodes that hold the shard: the first ones

struct LeadState {
  uint8_t up;   ///< nodes; a bit each
  uint8_t cut;  ///< those that have no way to the log
  uint8_t faults;
  uint8_t count;              ///< records in the log
  uint8_t acked;              ///< those that were acknowledged; a bit each
  uint8_t late;               ///< those of them that came while nodes did not agree who leads
  uint8_t next[kHolders];     ///< offset to be applied next
  uint8_t awaited[kHolders];  ///< records whose callers wait at the node; a bit each
  uint8_t caught_up, behind, cut_off;  ///< replicas; a bit each
  uint8_t ticked;              ///< nodes that have applied a tick since they lead; a bit each
  uint8_t missed;              ///< a question was answered without what was to be seen
  Said views[kNodes][kNodes];  ///< a node's own is not kept
};
static_assert(std::has_unique_object_representations_v<LeadState>);

/// See the head of this file.
class LeadWorld {
 public:
  using State = LeadState;
  struct Names {};
  static State Initial(const Bounds& bounds);
  static Table<State> Rows();
  static int Whats(const Bounds&) { return 1; }
  static std::string_view Violated(const Bounds& bounds, const State& state);
  static State Canonical(const Bounds&, const State& state, Names*) { return state; }
  static Action Renamed(const Action& action, const Names&) { return action; }
  static std::string Text(const Bounds& bounds, const State& state);
};
using LeadModel = TableModel<LeadWorld>;
std::vector<Scope> LeadScopes();

/// A question, as it goes over the replicas (router/read.h). `needs_tick` stands for
/// Takeovers::InDoubt.
bool Ask(const Action& action, bool (*needs_tick)(bool leads, bool ticked, bool failover),
         LeadState* state);
/// Whether this one may lead by what the node sees: it has a way to the log, or no other that could
/// lead has one.
bool MayLead(const LeadState& state, int node, int leader);
/// Takeovers::InDoubt.
bool NeedsTick(bool leads, bool ticked, bool failover);

}  // namespace seendb::cluster_model
