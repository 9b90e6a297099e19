// server/cluster/routing_table.h: whom a node asks for each partition, as it saw the cluster at one
// moment: ReadOrder and ActingPrimary (view.h) of all partitions, worked out once.
//
// Immutable. Threads: any.

#pragma once

#include <cassert>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/view.h"

namespace seendb::cluster {

/// One replica that can be asked.
struct Holder {
  std::string node = {}, url = {};
  bool here = false;  ///< it is the asking node's own
  int64_t behind_ms = 0;
  bool operator==(const Holder&) const = default;
};

/// Those of one partition.
struct PartitionRoutes {
  std::vector<Holder> reads;     ///< in the order to ask: the leader first, if it serves
  std::optional<Holder> leader;  ///< the acting primary
  /// The leader is not the first of the placement's list: it has taken over.
  bool taken_over = false;
  uint64_t term = 1;  ///< counts the changes of the leader that the node has seen
};

/// See the head of this file.
class RoutingTable {
 public:
  /// `nodes`: as seen from `self`, itself included. `before`: the table that this one replaces;
  /// null: it is the first.
  RoutingTable(const std::string& self, const Meta& meta,
               const std::map<std::string, NodeView>& nodes, const RoutingTable* before);

  /// Of the record of the placement; -1: there is none.
  int64_t placement_offset() const { return placement_offset_; }
  /// 0: what the cluster is is not known yet.
  uint32_t partitions() const { return static_cast<uint32_t>(routes_.size()); }
  /// Precondition: partition < partitions().
  const PartitionRoutes& of(uint32_t partition) const {
    assert(partition < partitions());
    return routes_[partition];
  }
  /// All nodes that are up, but this one: their urls by name.
  const std::map<std::string, std::string>& up() const { return up_; }

 private:
  int64_t placement_offset_ = -1;
  std::vector<PartitionRoutes> routes_;
  std::map<std::string, std::string> up_;
};

}  // namespace seendb::cluster
