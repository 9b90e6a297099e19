// seendb/cluster_link.h: how the commands of a cluster reach it: its brokers and its records.

#pragma once

#include <memory>
#include <string>

#include "cluster/meta_log.h"
#include "cluster/topics.h"
#include "flags.h"
#include "seendb/status.h"

namespace seendb::tool {

/// How long a command waits for the brokers.
inline constexpr int kClusterWaitMs = 30'000;

/// Which cluster, at which brokers.
struct ClusterFlags {
  std::string brokers, name;
  std::string kafka_config;  ///< a file of librdkafka's settings; empty: none
};

/// Adds --brokers, --name and --kafka-config; the first two are needed unless it may be asked of a
/// server.
void AddClusterFlags(Command command, ClusterFlags& flags, bool or_server = false);

/// How the brokers are reached. kInvalidArgument, kIOError: the flags, or the file they name.
Result<cluster::KafkaAccess> AccessOf(const ClusterFlags& flags);

/// The cluster's records, read to their end. kUnavailable: the brokers can't be reached. kNotFound:
/// there is no such cluster.
Result<std::unique_ptr<cluster::MetaLog>> OpenCluster(const ClusterFlags& flags);

}  // namespace seendb::tool
