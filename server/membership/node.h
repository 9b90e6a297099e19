// server/membership/node.h: a server's part in its cluster: it is a member, knows what the cluster
// is, asks the other members how they are, and tells them of itself.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "cluster/follower.h"
#include "cluster/routing_table.h"
#include "cluster/view.h"
#include "membership/prober.h"
#include "net/client_tls.h"
#include "ops/cluster_config.h"
#include "ops/periodic.h"
#include "peers/peer_client.h"
#include "proof/proofs.h"
#include "seendb/status.h"

namespace seendb::membership {

/// kInvalidArgument with the key at fault ("/cluster/advertise"): settings that no node can have.
/// Nothing is asked of the brokers, and no file is read.
Status CheckSettings(const ops::ClusterConfig& config);
/// kInvalidArgument: a file that the settings name (the secret, whom the node trusts) does not fit.
Status CheckFiles(const ops::ClusterConfig& config);

/// See the head of this file. Threads: Open from one; others from any.
class Node {
 public:
  /// `db`: the folder of the node's database. `build`: of the software. `shown`: certificate and
  /// key, for nodes that ask for one.
  Node(ops::ClusterConfig config, std::string db, std::string build, net::TlsFiles shown);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Checks the settings, reads the secrets and whom to trust. kInvalidArgument with the key at
  /// fault.
  Status Prepare();
  /// Reads anew whom to trust; a failure leaves what was there. After Prepare. Threads: one.
  Status RenewTls();
  /// The same of the secrets.
  Status RenewSecrets();
  /// Waits until the cluster is known, from the copy in the folder or from Kafka, and becomes a
  /// member. kIncompatible: the folder is not a node's of this cluster, or the cluster's records
  /// can't be read; kUnavailable: Stop was called first.
  Status Open();
  /// Says to other nodes that it ends; Open returns.
  void Stop();
  /// It asks no other node any more; requests that are under way are broken off.
  void End();

  const ops::ClusterConfig& config() const { return config_; }  ///< with nothing left out
  cluster::KafkaAccess access() const;
  /// Told of the replicas that it holds. Before Open.
  void TellReplicas(std::function<std::map<uint32_t, cluster::ReplicaReport>()> replicas) {
    replicas_ = std::move(replicas);
  }
  /// Told of the partitions of which it has nothing (NodeReport::none). Before Open.
  void TellNone(std::function<std::set<uint32_t>()> none) { none_ = std::move(none); }
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
  /// By which nodes prove to each other who they are.
  const std::shared_ptr<proof::Proofs>& proofs() const { return proofs_; }
  /// Whom it trusts under TLS, and what it shows.
  const net::TlsFiles& tls() const { return tls_; }
  /// Whether others reach it by TLS: then it asks only those that are reached so too.
  bool SpeaksTls() const { return config_.advertise.starts_with("https://"); }
  /// Asks other nodes, for whoever has requests to them. After Prepare.
  peers::PeerClient& peers() { return *peers_; }

  /// The cluster as this node sees it (ClusterToJson), at most some seconds old. kUnavailable: it
  /// is not known yet.
  Result<std::string> Report() const;
  /// What it tells others of itself (NodeReportToJson).
  std::string StatusReport() const;
  /// The partitions that nobody leads as it saw the members last; none before the first placement.
  std::vector<uint32_t> Leaderless() const;
  /// What is wrong, for people.
  std::vector<std::string> Problems() const;

 private:
  using Views = std::map<std::string, cluster::NodeView>;

  /// Null before Open.
  cluster::Follower* follower() const;
  cluster::NodeReport OwnReport() const;
  void ProbeOthers(std::chrono::milliseconds gather);
  void Take(const std::string& node, const ProbeResult& result);
  void Met(const std::string& node, void (cluster::NodeHealth::*what)());

  const ops::ClusterConfig config_;
  const std::string db_, build_, incarnation_;
  const net::TlsFiles tls_;
  std::function<std::map<uint32_t, cluster::ReplicaReport>()> replicas_;
  std::function<std::set<uint32_t>()> none_;
  const std::shared_ptr<proof::Proofs> proofs_;
  std::atomic<bool> stopping_{false};

  Mutex renewing_{LockRank::kServerCall};  // one new table at a time
  mutable Mutex mutex_{LockRank::kLeaf};
  std::shared_ptr<const cluster::RoutingTable> table_ GUARDED_BY(mutex_);
  std::unique_ptr<cluster::Follower> follower_ GUARDED_BY(mutex_);  // made by Open, once
  Views views_ GUARDED_BY(mutex_);                                  // of the other members
  std::map<std::string, std::string> why_ GUARDED_BY(mutex_);       // a member does not answer
  std::optional<peers::PeerClient> peers_;
  std::optional<peers::PeerClient> probes_;  // apart, so that they wait for no request
  std::optional<Prober> prober_;
  ops::Periodic probing_;
};

}  // namespace seendb::membership
