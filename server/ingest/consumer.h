// server/ingest/consumer.h: consumes the topics of the settings into an engine, on one thread,
// until it is stopped. Nothing ends it: brokers may go and come, topics be made later, partitions
// added.
//
// The thread works in sessions (session.h): one librdkafka consumer whose partitions are assigned
// once, with explicit offsets out of the database. Whatever changes begins a new session. First
// plays of the day go from the engine's outbox to their topic by a thread of their own
// (publisher.h). Updates of items have a thread with sessions of their own, too: neither waits for
// the other.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingest/crash_mark.h"
#include "ingest/dead_letters.h"
#include "ingest/item_sink.h"
#include "ingest/partition_table.h"
#include "ingest/publisher.h"
#include "ingest/shard_topics.h"
#include "migration/migration.h"
#include "ops/kafka_config.h"
#include "seendb/engine.h"
#include "threads/worker.h"

namespace seendb::ingest {

/// See the head of this file. Threads: Start and Stop once each, in this order, by one thread;
/// State by any.
class Consumer {
 public:
  /// `crash_mark`: the path of the file in which crash_mark.h notes messages, for items followed by
  /// "_ITEMS"; empty: none, and nothing is known of earlier processes.
  explicit Consumer(const ops::KafkaConfig& config, std::string crash_mark = {});
  ~Consumer() { Stop(); }
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  /// Makes what can fail because of the settings: kInvalidArgument names the property, kIOError
  /// the dead letters' file.
  Status Prepare();
  /// Begins to consume into `engine`, which must outlive Stop, and whose folder has the crash mark.
  /// `migrations`, which hear of the plays that were taken, outlive it too; null: there are none.
  /// `shards`: of a node of a cluster; nothing: all partitions are consumed. `items`: the store for
  /// topics of items; nothing: these are not consumed. Precondition: Prepare succeeded.
  void Start(Engine* engine, migration::Migrations* migrations = nullptr,
             std::optional<ShardTopics> shards = {}, std::optional<ItemSink> items = {});
  /// kIncompatible names a topic that is there and has another number of partitions. Waits some
  /// seconds for the brokers; what they do not tell is taken to be right.
  Status CheckShapes(uint32_t partitions) const;
  /// kIncompatible names a topic of items that is there and is compacted. Waits as CheckShapes.
  Status CheckItemTopics() const;
  /// Ends it: what was polled and not applied will be polled again by the next process. Returns
  /// within seconds.
  void Stop();
  /// What is consumed, and how far.
  ops::IngestState State() const;
  /// How old is what is applied of each partition of the topics, in a cluster; those that are not
  /// named are not known yet.
  std::map<uint32_t, int64_t> BehindMs() const;
  /// What is wrong beside that, for people. Does not wait.
  std::vector<std::string> Problems() const;

 private:
  /// The topics of one of the two threads, and what only that thread uses.
  struct Lane {
    ops::KafkaConfig config;
    std::unique_ptr<DeadLetters> dead_letters = nullptr;
    std::unique_ptr<CrashMark> crash_mark = nullptr;
    std::set<std::string> late_topics = {};
  };

  void Run(Lane* lane, const ItemSink* items, Worker* worker, Engine* engine,
           migration::Migrations* migrations);
  std::vector<SourceInfo> Sources(Engine* engine) const;

  const ops::KafkaConfig config_;
  const std::string crash_mark_path_;
  PartitionTable table_;
  Lane event_lane_, item_lane_;
  Publisher publisher_;
  std::optional<ShardTopics> shards_;
  std::optional<ItemSink> items_;
  std::atomic<Engine*> engine_{nullptr};
  Worker worker_, item_worker_;  // the last members: they end before what they use
};

}  // namespace seendb::ingest
