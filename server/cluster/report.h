// server/cluster/report.h: a cluster as JSON, for GET /cluster and for `seendb cluster status`.

#pragma once

#include <map>
#include <string>

#include "cluster/meta.h"
#include "cluster/view.h"

namespace seendb::cluster {

/// `{"name","partitions","replicas","placement_offset","nodes":[...],"shards":[...]}`, documented
/// in server/doc/cluster.md. `nodes`: what a node thinks of the others; null: nobody was asked, and
/// no states are told. `brokers`: where the cluster's log is; empty: left out. Precondition: the
/// cluster was made.
std::string ClusterToJson(const std::string& name, const Meta& meta,
                          const std::map<std::string, NodeView>* nodes,
                          const std::string& brokers = {});

}  // namespace seendb::cluster
