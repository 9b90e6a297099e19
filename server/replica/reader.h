// server/replica/reader.h: reads the partitions of the log whose shards are held here, and applies
// what it reads, on a thread of its own.
//
// One consumer from its assignment to its end; partitions and offsets are assigned, groups are not
// used. Where the set of held shards changes, or something fails, another one begins at the stored
// offsets. What the log no longer has is never passed over. A shard that takes no writes keeps the
// others from nothing: what is read of it waits in the backlog.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "cluster/topics.h"
#include "kafka/handle.h"
#include "replica/appender.h"
#include "replica/applier.h"
#include "replica/backlog.h"
#include "replica/progress.h"
#include "threads/worker.h"

namespace seendb::replica {

/// See the head of this file. Everything pointed to is borrowed. Threads: one; problem() from any.
class Reader {
 public:
  struct Context {
    cluster::KafkaAccess access;
    std::string topic;
    Engine* engine = nullptr;
    Applier* applier = nullptr;
    Progress* progress = nullptr;
    Appender* appender = nullptr;
    /// Called again and again, also while Kafka is away.
    std::function<void()> between;
  };
  explicit Reader(Context context) : context_(std::move(context)) {}
  ~Reader() { Stop(); }

  /// kInvalidArgument: settings that librdkafka does not take.
  Status Start();
  void Stop();
  /// See Applier::Context. On the reader's own thread alone.
  std::map<uint32_t, int64_t> Ends() const;
  /// What is wrong with reading; empty: nothing is.
  std::string problem() const;

 private:
  Result<kafka::KafkaHandle> NewConsumer() const;
  void Run();
  /// One consumer, from its assignment to its end.
  Status Session();
  Status Assign();
  /// Whether one that could not be read when the session began can be now.
  bool CanReadMore();
  /// What is stored of a partition: the offset to read next. Says so to those who ask.
  int64_t TellStored(uint32_t partition, std::optional<SourceMark>* last = nullptr) const;
  /// Whether it is read from there on; else it never is.
  Result<bool> Begin(uint32_t partition, int ask_ms);
  void Poll(rd_kafka_queue_t* queue);
  Status Take(const rd_kafka_message_t& message);
  /// Nothing behind the gap may be read.
  Status CheckGap(const rd_kafka_message_t& message, int64_t expected);
  /// Whether the log is another one than that of which records were applied.
  bool IsOfAnotherLog(const rd_kafka_message_t& message);
  /// Applies a record, or has it wait. Not ok: the session is to end.
  Status Apply(const LogRecord& record, int64_t from);
  /// Applies it now. kUnavailable: it can't be just now. kNotFound: the session is to end.
  Status ApplyNow(const LogRecord& record, int64_t from);
  void TellApplied(const LogRecord& record, const Applied& applied);
  void StopForGood(const LogRecord& record, const Status& why);
  void KeepForLater(const LogRecord& record, int64_t from);
  /// Tries what waits and is due.
  Status TryBacklog();
  Status TryBacklogOf(uint32_t partition);
  /// How long to wait for a message.
  int PollMs() const;
  void SetProblem(const std::string& problem);

  const Context context_;
  // Of the thread.
  rd_kafka_t* consumer_ = nullptr;
  std::map<uint32_t, int64_t> next_;       // of the partitions that are read: to be read next
  Backlog backlog_;                        // what was read and is not applied
  std::map<uint32_t, SourceMark> checks_;  // applied records; the log is to have them as they were
  std::set<uint32_t> missing_;             // held, and can't be read now
  uint32_t looked_at_ = 0;                 // of missing_, the last
  Time look_again_;
  std::vector<rd_kafka_message_t*> polled_;
  Status failed_;       // the session is to end
  bool renew_ = false;  // likewise, though nothing failed

  mutable Mutex mutex_{LockRank::kLeaf};
  std::string problem_ GUARDED_BY(mutex_);
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::replica
