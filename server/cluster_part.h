// server/cluster_part.h: a server's part in its cluster, put together: the member, the replicas
// that it holds, their moves, and the router of requests. Two rows of the list of parts.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "api/context.h"
#include "ingest/consumer.h"
#include "membership/node.h"
#include "migration/migration.h"
#include "moves.h"
#include "ops/config.h"
#include "parts.h"
#include "replica/replicas.h"
#include "replica/shared_sets.h"
#include "router/router.h"
#include "secrets.h"

namespace seendb {

/// See the head of this file. Precondition: the settings have a cluster. Threads: as Parts says.
class ClusterPart {
 public:
  /// All are borrowed; `migrations` and `consumer` may be null.
  ClusterPart(const ops::Config& config, api::Context* context, migration::Migrations* migrations,
              const ingest::Consumer* consumer, Secrets* secrets);

  /// The shards that are held here, and the sets for all users: what runs until no request needs
  /// them.
  Part Replicas();
  /// The member, the moves and the router: what ends before the last requests do. Behind Replicas
  /// in the list.
  Part Member();

  /// Answers for migrations, and for the consumer of the business's own topics.
  const migration::ClusterNode* MigrationNode(Engine* engine);
  ingest::ShardTopics ShardTopics();

 private:
  std::optional<int> Prepare();
  Status Shape(Options* options);
  Status Finish(Engine* engine);
  void FillMetrics(ops::MetricsSnapshot* to) const;
  replica::ReplicasOptions OptionsOfReplicas();
  replica::SharedSetsOptions OptionsOfSets();

  const ops::Config& config_;
  api::Context& context_;
  migration::Migrations* const migrations_;
  const ingest::Consumer* const consumer_;
  Secrets& secrets_;
  membership::Node node_;
  std::optional<replica::Replicas> replicas_;
  std::optional<replica::SharedSets> sets_;
  std::optional<Moves> moves_;                   // set once the node is prepared
  std::optional<router::ClusterRouter> router_;  // set once the node is prepared
  migration::ClusterNode migration_node_;
};

}  // namespace seendb
