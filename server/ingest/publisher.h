// server/ingest/publisher.h: tells topics of users' first plays of the day: it reads them from the
// engine's outbox, writes them to the first_of_day_topic of the topic that they came from, and
// deletes them there once all replicas have them. One thread, until it is stopped.
//
// At least once: what was delivered and not yet deleted when the process ended is told again. Of
// one source in one shard, and so of one user, rows are told in the order of their offsets. Rows of
// a topic without a first_of_day_topic wait.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/sync.h"
#include "ingest/shard_topics.h"
#include "ingest/topic_writer.h"
#include "ops/kafka_config.h"
#include "seendb/engine.h"
#include "threads/worker.h"

namespace seendb::ingest {

/// See the head of this file. Threads: Prepare, Start and Stop once each, in this order, by one
/// thread; problem and oldest_ms by any.
class Publisher {
 public:
  explicit Publisher(const ops::KafkaConfig& config);
  ~Publisher() { Stop(); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Makes the producer, where any topic has a first_of_day_topic.
  Status Prepare();
  /// Begins to tell what is in the outbox of `engine`. `shards`, borrowed as the engine until Stop:
  /// of a node of a cluster, which tells what others don't, and has all replicas delete it; else
  /// null.
  void Start(Engine* engine, const ShardTopics* shards = nullptr);
  /// Ends it, within seconds.
  void Stop();

  /// What is wrong, once it has been so for 10 s; empty: nothing.
  std::string problem() const;
  /// When the oldest row was written that waits for its topic; nothing: none does.
  std::optional<int64_t> oldest_ms() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Key = std::tuple<uint32_t, std::string, uint32_t>;  // shard, topic, partition
  /// How far a source was told by this process.
  struct Progress {
    int64_t after = -1;           // the last offset told
    std::vector<OutboxRow> told;  // and not deleted yet
  };

  void Run(Engine* engine);
  /// Tells what there is; `*any`: some of it was told.
  Status Pass(Engine* engine, bool* any);
  /// `*written`: false where the topic can't be written to.
  Status TellSome(Engine* engine, const OutboxSource& source, const std::string& topic,
                  bool* written, bool* any);
  /// The sources that are to be told, and how old their rows are.
  std::vector<OutboxSource> LookUp(Engine* engine);
  Status Delete(Engine* engine, const OutboxSource& source, const std::vector<OutboxRow>& told);
  void Note(const Status& passed);

  const ops::KafkaConfig& config_;
  std::map<std::string, std::string> topics_;  // by the topic consumed: where its first plays go
  std::unique_ptr<TopicWriter> writer_;        // null where nobody is to be told
  std::map<Key, Progress> progress_;           // the thread's
  const ShardTopics* shards_ = nullptr;
  mutable Mutex mutex_{LockRank::kLeaf};
  std::optional<int64_t> oldest_ms_ GUARDED_BY(mutex_);
  std::string failure_ GUARDED_BY(mutex_);  // of the last pass
  Clock::time_point failing_since_ GUARDED_BY(mutex_);
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::ingest
