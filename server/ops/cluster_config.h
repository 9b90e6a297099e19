// server/ops/cluster_config.h: the cluster that a server is a node of: the object "cluster" of the
// server's settings. Keys and defaults are listed in server/doc/cluster.md.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "ops/config_keys.h"

namespace seendb::ops {

/// See the head of this file.
struct ClusterConfig {
  std::string brokers;               ///< "host:port,host:port"
  std::string name;                  ///< the cluster's
  std::string node;                  ///< this node's name; empty: the machine's
  std::string advertise;             ///< where other nodes reach it: "https://host:7373"
  std::string ca;                    ///< a file of whom it trusts under TLS; empty: the system's
  std::string zone;                  ///< empty: one of its own, the node's name
  double weight = 1;                 ///< its share of the shards, compared with other nodes'
  std::string secret_file;           ///< by which nodes prove who they are
  std::string backup_dir;            ///< taken and not used as yet
  uint64_t transfer_mb_per_s = 100;  ///< shards that it fetches, and likewise those that it gives
  std::map<std::string, std::string> properties;  ///< librdkafka's (kafka_properties.h)
};

/// Reads the object "cluster".
Setter Cluster(std::optional<ClusterConfig>* to);

}  // namespace seendb::ops
