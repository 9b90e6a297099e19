// server/ingest/session.h: one librdkafka consumer from its assignment to its end.
//
// Partitions are assigned once, with explicit offsets; there is no seek, pause or rebalance, which
// this library's batch polling does not go with. Back-pressure is not polling. One thread does all:
// poll a batch, decode it, apply it with its offsets, poll the next. The session ends where
// anything about its partitions changes: a new one, a lost range, one that can be read again, a
// shard of the database that lost what it had of one.
//
// A topic that was deleted and made anew has the name and the offsets of the old one. So a
// partition is read from the newest applied message on: if the log gives it another time, the
// partition is held, and that is noted in the database. Updates of items may be read twice: then
// their topic is read from its beginning.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ingest/crash_mark.h"
#include "ingest/dead_letters.h"
#include "ingest/item_sink.h"
#include "ingest/kafka.h"
#include "ingest/partition_table.h"
#include "ingest/shard_topics.h"
#include "ingest/start.h"
#include "ingest/topic_batch.h"
#include "migration/migration.h"
#include "ops/kafka_config.h"
#include "seendb/engine.h"
#include "threads/worker.h"

namespace seendb::ingest {

/// See the head of this file. All pointers are borrowed. Threads: one.
class Session {
 public:
  /// `late_topics`: those that were not there when they were first asked for, over all sessions.
  /// `migrations`: hear of the plays that were taken; may be null. `shards`: of a node of a
  /// cluster; else null. `items`: the topics have updates of items, for this store; null: they have
  /// events.
  Session(const ops::KafkaConfig& config, Engine* engine, PartitionTable* table,
          DeadLetters* dead_letters, CrashMark* crash_mark, std::set<std::string>* late_topics,
          migration::Migrations* migrations, const ShardTopics* shards, const ItemSink* items,
          Worker* worker);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Consumes until it is told to stop, or something changed (both OK), or the cluster can't be
  /// asked where to begin (kUnavailable).
  Status Run();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kAskMs = 3'000;  // for a question to the brokers
  /// A topic and how far its partitions were read.
  struct Reader {
    Reader(const ops::KafkaTopic& the_topic, std::function<uint32_t(IdRef)> partition_of)
        : topic(the_topic), batch(the_topic, std::move(partition_of)) {}
    const ops::KafkaTopic& topic;
    TopicBatch batch;
    std::string unfit;                ///< why none of it can be read; empty: it can
    const char* unfit_alarm = "";     ///< that goes with it
    std::optional<Policy> policy;     ///< of its collection; nothing: there is none
    std::vector<int32_t> partitions;  ///< there are, and owned here
    std::map<int32_t, int64_t> next;  ///< of those that are read: the next offset
    /// Of those that are read, once the decision where to begin is stored: what all shards have, as
    /// far as is known here.
    std::map<int32_t, int64_t> applied;
    /// Of those that are read from an applied message on, to see whether it is still the same.
    std::map<int32_t, SourceMark> checks;
    /// Up to when the store of items has what the partition says, in ms since 1970.
    std::map<int32_t, int64_t> current_ms;
    /// Partitions whose last answer was an error: when the next one is logged.
    std::map<int32_t, Clock::time_point> unread;
  };

  Status Open();
  // session_start.cc: where to begin
  Result<std::vector<SourceInfo>> Sources() const;
  bool Owns(int32_t partition) const;
  Status FindPartitions(Reader* reader);
  Status BeginPartition(Reader* reader, int32_t partition, const std::vector<SourceInfo>& sources);
  Result<StartPoint> Choose(const Reader& reader, int32_t partition,
                            const std::vector<SourceInfo>& sources, int ask_ms);
  void Hold(Reader* reader, int32_t partition, int64_t stored);
  std::optional<Policy> PolicyOf(const std::string& collection) const;
  static bool Forgot(const Reader& reader, const std::vector<SourceInfo>& sources);
  bool AnythingChanged();
  // session_items.cc: topics of items
  void LookAtItems(Reader* reader);
  void ReadAnew(Reader* reader, int32_t partition);
  bool ApplyItems(Reader* reader);
  bool BuryFrom(const Reader& reader, size_t first);
  void TellCurrent();
  // session.cc: reading
  Status Assign();
  void Poll();
  void Take(const rd_kafka_message_t& message);
  std::optional<Arrival> ArrivalOf(const Reader& reader, const rd_kafka_message_t& message) const;
  void Add(Reader* reader, const Message& message);
  bool IsOfAnotherLog(Reader* reader, const rd_kafka_message_t& message);
  void TakeError(const rd_kafka_message_t& message);
  bool NoteUnread(Reader* reader, const rd_kafka_message_t& message);
  void NoteRead(Reader* reader, int32_t partition);
  void SkipTo(Reader* reader, int32_t partition, int64_t offset);
  bool Apply(Reader* reader);
  bool InsistOnMarks(TopicBatch* batch, RecordResult* counted);
  bool Insist(const char* what, const std::function<Status()>& work);
  bool InsistOnIngest(const std::string& topic, const IngestBatch& batch, IngestResult* counted);
  void NoteOutcome(const Reader& reader, const RecordResult& counted);
  bool ShardsChanged() const { return shards_ != nullptr && shards_->readable() != readable_; }
  void Tick();
  void CommitToGroup();
  void Alarm(const Reader& reader, int32_t partition, const std::string& alarm,
             const std::string& text);
  Reader* ReaderOf(const rd_kafka_topic_t* topic);

  const ops::KafkaConfig& config_;
  Engine* const engine_;
  PartitionTable* const table_;
  DeadLetters* const dead_letters_;
  CrashMark* const crash_mark_;
  std::set<std::string>* const late_topics_;
  migration::Migrations* const migrations_;
  const ShardTopics* const shards_;
  const ItemSink* const items_;
  const std::set<uint32_t> readable_;  // of shards_, as the session began
  Worker* const worker_;
  KafkaHandle handle_;
  KafkaQueue queue_;  // before handle_ goes
  std::vector<std::unique_ptr<Reader>> readers_;
  std::map<const rd_kafka_topic_t*, Reader*> by_handle_;
  std::vector<rd_kafka_message_t*> polled_;
  bool held_ = false;     // some partition is not read, maybe for now
  bool away_ = false;     // the brokers did not say which partitions there are
  bool changed_ = false;  // a new session is to begin
  Clock::time_point next_tick_, next_commit_, next_refresh_;
};

}  // namespace seendb::ingest
