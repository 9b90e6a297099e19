// server/replica/producer.h: one connection that appends to the log. A producer that met a fatal
// error takes nothing any more; another one takes its place.
//
// Threads: any. Callbacks are made on a thread of this class, which ends with it.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/sync.h"
#include "cluster/log_record.h"
#include "cluster/topics.h"
#include "kafka/handle.h"
#include "threads/worker.h"

namespace seendb::replica {

/// See the head of this file.
class Producer {
 public:
  struct Callbacks {
    /// What became of a message: RD_KAFKA_RESP_ERR_NO_ERROR, and its offset.
    std::function<void(uint64_t id, rd_kafka_resp_err_t error, int64_t offset)> delivered;
    /// No broker can be reached.
    std::function<void()> down;
  };
  /// `delivery`: how long a message may take.
  static Result<std::unique_ptr<Producer>> New(const cluster::KafkaAccess& access,
                                               const std::string& topic,
                                               std::chrono::milliseconds delivery,
                                               Callbacks callbacks);
  /// Messages under way are given up, each with its callback.
  ~Producer() = default;
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  /// Sends a message, copied. kUnavailable: the queue is full, or the producer is just replaced.
  Status Send(uint32_t partition, std::string_view key, std::string_view value,
              std::string_view header, uint64_t id);

 private:
  struct Connection;
  Producer(const cluster::KafkaAccess& access, std::string topic,
           std::chrono::milliseconds delivery, Callbacks callbacks);
  Result<std::shared_ptr<Connection>> Connect();
  void Run();
  void Replace(const std::shared_ptr<Connection>& former);
  static void Delivered(rd_kafka_t*, const rd_kafka_message_t* message, void* self);
  static void Failed(rd_kafka_t*, int error, const char* reason, void* self);

  const cluster::KafkaAccess access_;
  const std::string topic_;
  const std::chrono::milliseconds delivery_;
  const Callbacks callbacks_;
  Mutex mutex_{LockRank::kLeaf};
  std::shared_ptr<Connection> connection_ GUARDED_BY(mutex_);
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::replica
