// server/ingest/shard_topics.h: how a node of a cluster consumes the business's own topics: of each
// the partitions whose shards it holds, since a topic has as many partitions as the cluster, keyed
// as Java's producers do.
//
// Each replica reads for itself, and keeps its offsets in its shard. So a step goes to the shard of
// its partition alone; a play of another partition's user is a dead letter; and nothing that is
// gone from a topic is read over, since another replica may have it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "seendb/ingest.h"
#include "seendb/status.h"

namespace seendb::ingest {

/// See the head of this file. Functions are called by the consumer's threads.
struct ShardTopics {
  uint32_t partitions = 0;  ///< of the cluster, and so of each topic
  /// The shards that are held here and have read their log up to where it was when they were
  /// opened: an erasure in it comes before plays that are newer.
  std::function<std::set<uint32_t>()> readable;
  /// Whether this node tells of first plays of the day in a shard.
  std::function<bool(uint32_t shard)> leads;
  /// Has all replicas delete the rows of a source up to an offset: they were told. Waits until it
  /// is done here.
  std::function<Status(const OutboxSource& source, int64_t up_to)> tell;
};

/// kIncompatible, in words for people, unless a topic has as many partitions as the cluster.
inline Status CheckShape(const std::string& topic, size_t partitions, uint32_t wanted) {
  if (partitions == wanted) return {};
  return Status::Incompatible("topic " + topic + " has " + std::to_string(partitions) +
                              " partitions, and the cluster " + std::to_string(wanted) +
                              ": only a topic with as many, keyed by user as Java's producers do, "
                              "can be consumed by its nodes");
}

}  // namespace seendb::ingest
