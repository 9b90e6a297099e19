// server/router/takeovers.h: before a node answers for a partition whose primary failed, it applies
// a tick of its own: all that the failed one acknowledged is in the log before it.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "cluster/meta_record.h"
#include "cluster/routing_table.h"

namespace seendb::router {

/// Which partitions have had their tick since this node leads them. Threads: any.
class Takeovers {
 public:
  /// Whether a read at this node needs a tick first. `failover`: who passes the request on says
  /// that a replica failed.
  bool Needed(uint32_t partition, const cluster::PartitionRoutes& routes, bool failover) const {
    if (!Leads(routes)) return failover;
    return done_[partition].load(std::memory_order_acquire) != routes.term;
  }
  /// A tick that was appended while the routes were these has been applied.
  void Applied(uint32_t partition, const cluster::PartitionRoutes& routes) {
    if (Leads(routes)) done_[partition].store(routes.term, std::memory_order_release);
  }

 private:
  static bool Leads(const cluster::PartitionRoutes& routes) {
    return routes.leader && routes.leader->here && routes.taken_over;
  }

  std::array<std::atomic<uint64_t>, cluster::kPartitionsMost> done_{};  // terms
};

}  // namespace seendb::router
