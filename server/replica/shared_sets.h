// server/replica/shared_sets.h: the sets for all users at a node of a cluster: every node reads the
// topic `X.sets` into a store of its own, and writes there what is put or deleted at it.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/topic_follower.h"
#include "cluster/topics.h"
#include "seendb/set_log.h"
#include "threads/worker.h"

namespace seendb::replica {

/// The times that a change and what is left of it may take; tests shorten them.
struct SharedSetsLimits {
  std::chrono::milliseconds append{30'000};  ///< until Kafka has all pieces
  std::chrono::milliseconds apply{10'000};   ///< from then on until this node has them
  std::chrono::milliseconds clean_every{30'000};
  std::chrono::milliseconds clean{5'000};  ///< until Kafka has what takes old pieces away
  /// So old is what is left when any node takes it away: nobody writes it any more by then.
  std::chrono::milliseconds old{600'000};
};

/// The surroundings of a node's sets. Functions are called by any thread, and wait for nothing.
struct SharedSetsOptions {
  cluster::KafkaAccess access;
  std::string cluster;  ///< its name
  std::string folder;   ///< of the store
  SharedSetsLimits limits = {};
  /// The version of log records that nodes may write.
  std::function<uint32_t()> log_version;
  /// Whether this node is the one that takes away what nobody else does.
  std::function<bool()> cleans;
};

/// See the head of this file. Threads: Start and Stop from one; others from any.
class SharedSets {
 public:
  explicit SharedSets(SharedSetsOptions options);
  ~SharedSets();
  SharedSets(const SharedSets&) = delete;
  SharedSets& operator=(const SharedSets&) = delete;

  /// Opens the store, and begins to read. `uuid`: of the cluster, so that no other one's sets are
  /// taken for its. Failures: those of SetLog::Open; kCorruption: a repair was not finished.
  Status Start(const std::string& uuid);
  /// Ends the reading; what is being put is kUnavailable, within a second or two. The store stays
  /// open: whoever has it closes it. Idempotent.
  void Stop();
  /// Null before Start.
  SetStore* store() const { return store_.get(); }
  /// Faults, for people; waits for nothing.
  std::vector<std::string> Problems() const;

 private:
  class Sink;
  /// kUnavailable: the cluster has no topic of sets yet.
  Status MayWrite() const;
  Status Append(std::span<const SetRecord> records);
  Result<int64_t> Write(std::span<const SetRecord> records, std::chrono::milliseconds most);
  void Clean();
  /// Whether this node has all that the topic had when it was called.
  bool HasReadToEnd() const;

  const SharedSetsOptions options_;
  const std::string topic_;
  std::atomic<bool> leaving_{false};
  std::unique_ptr<SetLog> store_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<cluster::TopicFollower> follower_;
  Worker cleaner_;  // the last member: it ends before what it uses
};

}  // namespace seendb::replica
