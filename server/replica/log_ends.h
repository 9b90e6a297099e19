// server/replica/log_ends.h: asks Kafka again and again where the partitions that are held end, and
// tells Progress. That is how a replica knows how far it is behind, whatever clocks say, and that
// its node has a way to the log.
//
// By connections of its own: a broker answers the requests of one connection one after the other,
// and a fetch may wait there for records. Each broker is asked by one question for all partitions
// that it leads. One that is silent holds up at most a quarter of the others.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "cluster/topics.h"
#include "kafka/handle.h"
#include "replica/progress.h"
#include "threads/worker.h"

namespace seendb::replica {

/// See the head of this file. Threads: Start and Stop from one; problem() from any.
class LogEnds {
 public:
  /// `progress` is borrowed.
  LogEnds(cluster::KafkaAccess access, std::string topic, Progress* progress)
      : access_(std::move(access)), topic_(std::move(topic)), progress_(*progress) {}
  ~LogEnds() { Stop(); }

  /// kInvalidArgument: settings that librdkafka does not take.
  Status Start();
  /// Waits for questions that are under way, some seconds at most.
  void Stop();
  /// Why the newest question had no answer; empty: it had one.
  std::string problem() const;

 private:
  static constexpr size_t kAskers = 4;
  using Leaders = std::map<int32_t, int32_t>;  // brokers by partition

  /// Looks who leads, now and then, and soon after a question failed.
  void FollowLeaders();
  /// Asks the brokers whose numbers fall to `asker`.
  void Ask(size_t asker);
  void AskBroker(const std::vector<int32_t>& partitions);

  const cluster::KafkaAccess access_;
  const std::string topic_;
  Progress& progress_;
  kafka::KafkaHandle handle_;
  Time look_again_ = {};  // of the thread that follows leaders
  std::atomic<bool> leaders_in_doubt_{true};
  std::array<Worker, kAskers + 1> workers_;

  mutable Mutex mutex_{LockRank::kLeaf};
  Leaders leaders_ GUARDED_BY(mutex_);
  std::string problem_ GUARDED_BY(mutex_);
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::replica
