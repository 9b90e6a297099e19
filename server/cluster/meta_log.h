// server/cluster/meta_log.h: the topic `X.meta` of a cluster: its records are folded into a Meta as
// they come, and new ones are appended.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/meta.h"
#include "cluster/topic_reader.h"
#include "cluster/topics.h"
#include "seendb/status.h"

namespace seendb::cluster {

/// See the head of this file. Threads: one at a time.
class MetaLog {
 public:
  /// Reads on where `from` ends. Nothing is asked of the brokers yet.
  static Result<std::unique_ptr<MetaLog>> Open(const KafkaAccess& access,
                                               const std::string& cluster, Meta from);
  ~MetaLog();

  /// What the records read so far make.
  const Meta& meta() const { return meta_; }

  /// Told of each record that did not count, and why.
  void OnRefused(std::function<void(int64_t offset, const Status&)> refused);

  /// Takes the records that come within `wait_ms`; returns at once when there are some.
  /// kIncompatible: one is not known to this software; it is met again by the next call.
  /// kCorruption: records between the fold's end and the topic's beginning are gone. kUnavailable:
  /// the brokers do not answer, or there is no such topic.
  Status Poll(int wait_ms);
  /// Polls until everything that was there when the call began has been taken. kUnavailable too:
  /// that took longer than `timeout_ms`.
  Status ReadToEnd(int timeout_ms);

  /// Appends a record and reads up to it. Ok: it counts. kIncompatible: it is in the topic and does
  /// not count, for the reason given. kUnavailable: it may be in the topic or not.
  Status Commit(const MetaRecord& record, int timeout_ms);

 private:
  MetaLog(KafkaAccess access, std::unique_ptr<TopicReader> reader, Meta from);
  Status Start(int timeout_ms);
  Status Take(const rd_kafka_message_t& message);

  const KafkaAccess access_;
  const std::unique_ptr<TopicReader> reader_;
  const std::string topic_;
  Meta meta_;
  std::function<void(int64_t, const Status&)> refused_;
  int64_t awaited_ = -1;  ///< offset of the record that Commit waits for
  std::optional<Status> verdict_;
};

}  // namespace seendb::cluster
