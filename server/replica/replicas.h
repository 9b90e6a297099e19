// server/replica/replicas.h: the shards that a node of a cluster holds. Each is kept as the log
// says: what Kafka has of its partition is read in order and applied to the engine, with its
// offset; what is to happen is appended to the log, and has happened once it was applied.
//
// Which shards there are follows the placement. A replica is a function of the log: two nodes that
// both append to a partition do no harm.
//
// Callbacks come once, on a thread of this class, or, where nothing has to be waited for, on the
// caller's before the call returns: they are quick, wait for nothing and may call any member but
// Stop. None comes after Stop has returned.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/log_record.h"
#include "cluster/meta.h"
#include "cluster/topics.h"
#include "cluster/view.h"
#include "migration/migration.h"
#include "seendb/engine.h"
#include "wire/appended.h"

namespace seendb::replica {

using wire::Appended;

using Time = std::chrono::steady_clock::time_point;

/// What to append.
struct NewRecord {
  uint32_t partition = 0;
  cluster::LogKind kind = cluster::LogKind::kTick;
  std::string_view key = {};    ///< a user's id as text; of events the first one's
  std::string_view value = {};  ///< the body, checked (server/doc/cluster-format.md)
  int64_t arrival_ms = 0;       ///< when the request came, by the engine's clock
  /// How far the records of `X.meta` were read where the request was taken; -1: as far as here.
  int64_t meta_offset = -1;
};

/// The times that a record may take; tests shorten them.
struct AppendLimits {
  std::chrono::milliseconds delivery{5'000};  ///< until Kafka has it
  std::chrono::milliseconds apply{2'000};     ///< from then on until it is applied here
};

/// Brings a copy of a shard, in which all of the log before `least` is applied, from another node,
/// and says in which folder it lies, for Engine::AttachShard; blocks, and ends soon where
/// `stopping` says so. kNotFound: no node has one to give.
using FetchShard = std::function<Result<std::string>(uint32_t partition, int64_t least,
                                                     const std::function<bool()>& stopping)>;

/// What a node's replicas go by. Functions are called by any thread, and wait for nothing unless
/// they say so.
struct ReplicasOptions {
  cluster::KafkaAccess access;
  std::string cluster;  ///< its name
  std::string node;     ///< this one's
  std::string db = {};  ///< the folder of the database; empty: what it holds is not looked at
  AppendLimits limits = {};
  std::function<std::shared_ptr<const cluster::Meta>()> meta;
  /// Reads on in the topic of records until its present end is in the fold, for so long at most;
  /// waits. False: it is not.
  std::function<bool(std::chrono::milliseconds)> read_meta_to_end;
  /// All members, this one too.
  std::function<std::map<std::string, cluster::NodeView>()> views;
  /// A replica held here came, went or got into another state: whom to ask is to be looked at anew.
  std::function<void()> states_changed;
  /// The engine's collections were changed.
  std::function<void()> collections_changed;
  /// Of the shards whose other topics are being read, or can't be: how old is what is applied of
  /// them. Null: there are no other topics.
  std::function<std::map<uint32_t, int64_t>()> topics_behind_ms = {};
  /// The copies that are on their way; null: not known.
  std::function<std::map<uint32_t, cluster::CopyProgress>()> copies = {};
  FetchShard fetch = {};  ///< null: no node has a copy to give
  /// Hear of what is applied to collections that move in from an old store; null: none does.
  migration::Migrations* migrations = nullptr;
};

class Core;

/// See the head of this file. Threads: Start and Stop from one; others from any.
class Replicas {
 public:
  explicit Replicas(ReplicasOptions options);
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  /// The settings of the node's engine, over `engine`: its database has the identity that the
  /// cluster's first record says, and the shards that its folder has.
  static Result<Options> EngineOptions(const cluster::InitRecord& init, Options engine);

  /// Holds shards from now on. kInvalidArgument: properties that librdkafka does not take.
  Status Start(Engine* engine);
  /// Ends it. What was not told by then is kUnavailable. Before the engine goes; idempotent.
  void Stop();

  /// The replicas held here, and those being fetched.
  std::map<uint32_t, cluster::ReplicaReport> Report() const;
  /// The partitions of which nothing lies here (NodeReport::none). Waits for nothing.
  std::set<uint32_t> None() const;
  /// Has a shard that is to be held here, and is lost, begin empty, with what the log has: at a
  /// person's word alone, whoever is silent. Blocks for seconds. kInvalidArgument ("/partition"):
  /// there is no such partition. kIncompatible: it is here, is not to be here, or another node has
  /// it. kBusy: a copy is on its way. kUnavailable: the brokers do not answer.
  Status BeginEmpty(uint32_t partition);
  /// Those held that have read their log up to where it was when they were opened.
  std::set<uint32_t> CaughtUp() const;
  /// For how long the log surely keeps what is applied next, of the shard that is most behind;
  /// nothing: not known yet, or for ever. What a limit of its size deletes is not known.
  std::optional<int64_t> LogMarginMs() const;
  /// Whether Start has succeeded.
  bool is_started() const;
  /// Records that the log did not take from this node, ticks among them.
  uint64_t AppendFailures() const;
  /// What is wrong, for people; waits for nothing.
  std::vector<std::string> Problems() const;

  /// Where the process stood still since a while ago, replicas are behind from now on, and
  /// states_changed was called. For whoever is about to rely on their states.
  void Watch();

  /// Calls `done(true)` once the replica has applied all before `next_offset`; `done(false)` at the
  /// deadline, or where it is not held here.
  void Await(uint32_t partition, int64_t next_offset, Time deadline,
             std::function<void(bool)> done);

  /// Appends a record, copied, and awaits its apply here. Failures: kInvalidArgument: it is too
  /// large. kUnavailable: the partition is not held here, or the brokers of its log do not answer
  /// (at once once that is known), nothing was taken; with "the outcome is open" in its text: it
  /// may yet get into the log. Repeating is harmless. At the deadline: applied is false, or the
  /// outcome is open.
  void Append(const NewRecord& record, Time deadline, std::function<void(Result<Appended>)> done);

  /// Appends a tick, and awaits its apply: what anybody acknowledged before is applied here then.
  /// Calls that come while a tick is under way share the next one. kUnavailable: not by the
  /// deadline.
  void Barrier(uint32_t partition, Time deadline, std::function<void(Status)> done);

 private:
  const std::unique_ptr<Core> core_;
};

}  // namespace seendb::replica
