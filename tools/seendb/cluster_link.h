// seendb/cluster_link.h: how the commands of a cluster reach it: its brokers and its records.

#pragma once

#include <memory>
#include <string>

#include "cluster/meta_log.h"
#include "cluster/topics.h"
#include "flags.h"
#include "seendb/status.h"
#include "session.h"

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

/// Whether the flags name the cluster; false: a node of it is to be asked. kInvalidArgument: they
/// say half of it, or both.
Result<bool> NamesCluster(const Session& session, const ClusterFlags& flags);

/// The flags with the cluster in them: where they name none, that of the node of --url. And what
/// NamesCluster and a request to the node return.
Result<ClusterFlags> WithCluster(const Session& session, ClusterFlags flags);

/// The cluster's records, read to their end; where the flags name no cluster, that of the node of
/// --url. kUnavailable: the brokers can't be reached. kNotFound: there is no such cluster. And what
/// WithCluster returns.
Result<std::unique_ptr<cluster::MetaLog>> OpenCluster(const Session& session, ClusterFlags flags);

}  // namespace seendb::tool
