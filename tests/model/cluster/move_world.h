// tests/model/cluster/move_world.h: who holds a shard. Placements are written, two at once too;
// each node reads them when it does, asks the others now and then, fetches, drops, and begins the
// shard empty where no node has it; nodes die and lose their disks. The shard is that of partition
// 0.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/cluster/real.h"
#include "model/cluster/table.h"

namespace seendb::cluster_model {

inline constexpr int kDrafts = 2;

/// The source of a replica.
enum Origin : uint8_t { kNowhere, kOfOld, kBegunEmpty };

struct MoveState {
  uint8_t up, opening;      ///< nodes; a bit each
  uint8_t replica[kNodes];  ///< Standing; of a node that is down, that of its disk
  uint8_t origin[kNodes];   ///< Origin of that
  uint8_t starts[kNodes];
  uint8_t faults, disks_lost;
  uint8_t written;  ///< changes that there are
  Change changes[kChanges];
  uint8_t told;            ///< changes whose writers were told that they count; a bit each
  Change drafts[kDrafts];  ///< placements that are about to be written; the smaller first
  uint8_t read[kNodes];
  Said views[kNodes][kNodes];  ///< of those who need them; a node's own is not kept
  /// Since when all wanted replicas have been serving, as ServingSince says: 0: they are not; else
  /// bit 0: for a minute, and above 1 + the placement (as `base` of MoveOf).
  uint8_t since[kNodes];
  /// When others first and last said that they have none, since all of them have: ranks; 0: never.
  uint8_t said_from[kNodes][kNodes], said_to[kNodes][kNodes];
  uint8_t began_beside;  ///< the shard began empty though another node had it
};
static_assert(std::has_unique_object_representations_v<MoveState>);

/// See the head of this file.
class MoveWorld {
 public:
  using State = MoveState;
  struct Names {};
  static State Initial(const Bounds& bounds);
  static Table<State> Rows();
  static int Whats(const Bounds& bounds);
  static std::string_view Violated(const Bounds& bounds, const State& state);
  /// Nodes are not alike: the placement names them.
  static State Canonical(const Bounds&, const State& state, Names*) { return state; }
  static Action Renamed(const Action& action, const Names&) { return action; }
  static std::string Text(const Bounds& bounds, const State& state);
};
using MoveModel = TableModel<MoveWorld>;
std::vector<Scope> MoveScopes();

}  // namespace seendb::cluster_model
