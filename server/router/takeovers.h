// server/router/takeovers.h: before a node answers for a partition that it begins to lead, or since
// another one failed, it applies a tick of its own: all that others acknowledged is in the log
// before it.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "cluster/meta_record.h"
#include "cluster/routing_table.h"

namespace seendb::router {

/// Which partitions have had their tick since this node leads them. Threads: any.
class Takeovers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// After a tick that was not applied, in time, none is waited for so long: Kafka is away, and
  /// nobody writes.
  static constexpr std::chrono::milliseconds kPause{1'000};

  /// Whether a read at this node needs a tick first. `failover`: who passes the request on says
  /// that a replica failed.
  bool Needed(uint32_t partition, const cluster::PartitionRoutes& routes, bool failover,
              Time now) const {
    return InDoubt(partition, routes, failover) &&
           now.time_since_epoch().count() >= all_[partition].not_before.load();
  }
  /// Whether what others acknowledged may not be applied here: no tick was since they did.
  bool InDoubt(uint32_t partition, const cluster::PartitionRoutes& routes, bool failover) const {
    if (!Leads(routes)) return failover;
    return all_[partition].term.load(std::memory_order_acquire) != routes.term;
  }
  /// A tick that was appended while the routes were these has been applied.
  void Applied(uint32_t partition, const cluster::PartitionRoutes& routes) {
    if (Leads(routes)) all_[partition].term.store(routes.term, std::memory_order_release);
  }
  /// It has not.
  void Failed(uint32_t partition, Time now) {
    all_[partition].not_before.store((now + kPause).time_since_epoch().count());
  }

 private:
  struct One {
    std::atomic<uint64_t> term{0};
    std::atomic<int64_t> not_before{INT64_MIN};
  };
  static bool Leads(const cluster::PartitionRoutes& routes) {
    return routes.leader && routes.leader->here;
  }

  std::array<One, cluster::kPartitionsMost> all_{};
};

}  // namespace seendb::router
