// server/router/node.h: what the router asks of the node that it is in. Functions, so that tests
// have a node without a cluster.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cluster/meta.h"
#include "cluster/meta_record.h"
#include "cluster/routing_table.h"
#include "replica/replicas.h"

namespace seendb::router {

/// What became of a request to another node.
enum class Met : uint8_t {
  kServed,   ///< it was answered
  kRefused,  ///< nobody listens
  kLost,     ///< it was sent, and not answered
};

/// See the head of this file. Threads: any.
struct RouterNode {
  std::string name;
  /// Whom to ask now; null: what the cluster is is not known yet. Waits for nothing.
  std::function<std::shared_ptr<const cluster::RoutingTable>()> table;
  /// Tells what a request met. Waits for nothing.
  std::function<void(const std::string& node, Met met)> note;
  /// How far the records of what the cluster is are read here: the engine's collections are not
  /// ahead of it. Waits for nothing.
  std::function<int64_t()> meta_offset;
  /// The version of log records that nodes may write. Waits for nothing.
  std::function<uint32_t()> log_version;
  /// As of replica::Replicas.
  std::function<void(uint32_t partition, int64_t next_offset, replica::Time deadline,
                     std::function<void(bool)> done)>
      await;
  std::function<void(const replica::NewRecord& record, replica::Time deadline,
                     std::function<void(Result<wire::Appended>)> done)>
      append;
  std::function<void(uint32_t partition, replica::Time deadline, std::function<void(Status)> done)>
      barrier;
  /// Appends a record of X.meta: the fold up to it. kIncompatible: it does not count, for the
  /// reason given. kUnavailable: it may be there or not. Blocks for `most`, and a little.
  std::function<Result<cluster::Meta>(const cluster::MetaRecord& record,
                                      std::chrono::milliseconds most)>
      commit;
};

}  // namespace seendb::router
