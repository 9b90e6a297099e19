// server/cluster_migration.h: migrations at a node of a cluster: what they record goes through the
// log, and the acting primary of a partition writes its plays to the old store.

#pragma once

#include <cstdint>
#include <map>

#include "cluster/view.h"
#include "membership/node.h"
#include "migration/migration.h"
#include "router/router.h"

namespace seendb {

/// Borrows all.
migration::ClusterNode MigrationNodeOf(const membership::Node* node,
                                       const router::ClusterRouter* router, const Engine* engine);

/// Adds to what a node tells of its replicas how far old stores have what is in their logs.
/// `migrations` may be null.
std::map<uint32_t, cluster::ReplicaReport> WithOldStores(
    std::map<uint32_t, cluster::ReplicaReport> replicas, const migration::Migrations* migrations);

}  // namespace seendb
