// server/cluster/placement.h: which nodes are to hold which partitions.
//
// A pure function: the same members and the same placement give the same answer everywhere. What is
// held stays where it is as far as balance and zones allow, because a move copies gigabytes.
// Threads: any. Cost: some ms for 1,024 partitions on 16 nodes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/meta.h"
#include "cluster/meta_record.h"
#include "seendb/status.h"

namespace seendb::cluster {

/// A node that may hold partitions.
struct PlaceableNode {
  std::string name, zone;
  double weight = 1;  ///< its share of the partitions, compared with the others'
};

/// The members that may hold partitions: those that are not leaving, by name.
std::vector<PlaceableNode> PlaceableNodes(const Meta& meta);

/// A placement of `partitions` x min(replicas, nodes). Precondition: `nodes` is not empty, its
/// names are distinct. By a node's load is meant the number of its replicas divided by its weight:
///
/// 1. What `current` has on nodes that are still there stays, in its order. Of too many replicas of
///    a partition those on the most crowded zone go, of these the last.
/// 2. Missing replicas go to the least loaded node of the zones that the partition uses least.
/// 3. Replicas in a crowded zone move where a less crowded one has room. Then single replicas move
///    from loaded to less loaded nodes, until no move brings the loads nearer to each other. With
///    equal weights, and zones of equal size, loads differ by at most 1.
/// 4. Another replica becomes the primary where a node leads more partitions than others.
Assignment Propose(const Assignment& current, const std::vector<PlaceableNode>& nodes,
                   uint32_t partitions, uint32_t replicas);

/// A difference between two placements.
struct PlacementMove {
  uint32_t partition = 0;
  std::string node;
  enum class What : uint8_t { kAdded, kRemoved, kLeads } what = What::kAdded;
  bool operator==(const PlacementMove&) const = default;
};
/// What changes, by partition: nodes that come, nodes that go, and a primary that held it before.
std::vector<PlacementMove> MovesBetween(const Assignment& from, const Assignment& to);

/// `current` with the replica of one partition moved. kInvalidArgument: no such partition
/// ("/partition"), `from` does not hold it ("/from"), `to` does ("/to").
Result<Assignment> MoveReplica(const Assignment& current, uint32_t partition,
                               const std::string& from, const std::string& to);

}  // namespace seendb::cluster
