// server/membership/node.h: a server's part in its cluster: it is a member, knows what the cluster
// is, asks the other members how they are, and tells them of itself.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "cluster/follower.h"
#include "cluster/routing_table.h"
#include "cluster/view.h"
#include "ops/cluster_config.h"
#include "ops/periodic.h"
#include "seendb/status.h"

namespace seendb::membership {

struct ProbeResult;

/// kInvalidArgument with the key at fault ("/cluster/advertise"): settings that no node can have.
/// Nothing is asked of the brokers, and no file is read.
Status CheckSettings(const ops::ClusterConfig& config);

/// See the head of this file. Threads: Open from one; others from any.
class Node {
 public:
  /// `db`: the folder of the node's database. `build`: of the software.
  Node(ops::ClusterConfig config, std::string db, std::string build);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Checks the settings and reads the secret. kInvalidArgument with the key at fault.
  Status Prepare();
  /// Waits until the cluster is known, from the copy in the folder or from Kafka, and becomes a
  /// member. kIncompatible: the folder is not a node's of this cluster, or the cluster's records
  /// can't be read; kUnavailable: Stop was called first.
  Status Open();
  /// Says to other nodes that it ends; Open returns.
  void Stop();

  const ops::ClusterConfig& config() const { return config_; }  ///< with nothing left out
  cluster::KafkaAccess access() const;
  /// Told of the replicas that it holds. Before Open.
  void TellReplicas(std::function<std::map<uint32_t, cluster::ReplicaReport>()> replicas) {
    replicas_ = std::move(replicas);
  }
  /// The newest fold; null: the cluster is not known yet.
  std::shared_ptr<const cluster::Meta> meta() const;
  /// Waits until everything that is in the topic of records now is in the fold.
  bool ReadMetaToEnd(std::chrono::milliseconds most);
  /// What it thinks of all members, itself among them.
  std::map<std::string, cluster::NodeView> AllViews() const;

  /// Whom to ask, as it saw the members last; null: the cluster is not known yet.
  std::shared_ptr<const cluster::RoutingTable> table() const;
  /// Looks anew whom to ask. Done with each round of probes, and when a node looks otherwise.
  void RenewTable();
  /// A request to another member was answered; was refused, since nobody listens; was lost.
  void Served(const std::string& node);
  void Refused(const std::string& node);
  void Lost(const std::string& node);
  /// Appends a record of what the cluster is: the fold up to it. Blocks for `most`, and a little;
  /// failures as those of MetaLog::Commit.
  Result<cluster::Meta> Commit(const cluster::MetaRecord& record, std::chrono::milliseconds most);
  /// What nodes show each other. After Prepare.
  const std::string& secret() const { return secret_; }

  /// The cluster as this node sees it (ClusterToJson), at most some seconds old. kUnavailable: it
  /// is not known yet.
  Result<std::string> Report() const;
  /// What it tells others of itself (NodeReportToJson).
  std::string StatusReport() const;
  /// Whether this is the secret that nodes show each other. Takes as long whatever it is.
  bool IsSecret(std::string_view shown) const;
  /// What is wrong, for people.
  std::vector<std::string> Problems() const;

 private:
  using Views = std::map<std::string, cluster::NodeView>;

  /// Null before Open.
  cluster::Follower* follower() const;
  cluster::NodeReport OwnReport() const;
  void ProbeOthers();
  void Take(const std::string& node, const ProbeResult& result);
  void Met(const std::string& node, void (cluster::NodeHealth::*what)());

  const ops::ClusterConfig config_;
  const std::string db_, build_, incarnation_;
  std::function<std::map<uint32_t, cluster::ReplicaReport>()> replicas_;
  std::string secret_;
  std::atomic<bool> stopping_{false};

  Mutex renewing_{LockRank::kServerCall};  // one new table at a time
  mutable Mutex mutex_{LockRank::kLeaf};
  std::shared_ptr<const cluster::RoutingTable> table_ GUARDED_BY(mutex_);
  std::unique_ptr<cluster::Follower> follower_ GUARDED_BY(mutex_);  // made by Open, once
  Views views_ GUARDED_BY(mutex_);                                  // of the other members
  std::map<std::string, std::string> why_ GUARDED_BY(mutex_);       // a member does not answer
  ops::Periodic probing_;
};

}  // namespace seendb::membership
