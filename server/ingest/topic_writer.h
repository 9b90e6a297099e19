// server/ingest/topic_writer.h: writes messages to topics, and waits until every broker that keeps
// them has them (acks=all).

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/kafka.h"
#include "ops/kafka_config.h"
#include "seendb/status.h"

namespace seendb::ingest {

/// One message; an empty key is none.
struct OutMessage {
  std::string key;
  std::string payload;
  std::vector<std::pair<const char*, std::string>> headers;
};

/// See the head of this file. A producer that librdkafka declares broken for good (a fatal error:
/// of an idempotent producer, whose place in the log is in doubt) is replaced by a new one.
/// Threads: one at a time.
class TopicWriter {
 public:
  static Result<std::unique_ptr<TopicWriter>> New(const ops::KafkaConfig& config);

  /// Writes all of them, at least once each; blocks for seconds where the cluster does not answer.
  /// Any failure (kUnavailable): repeat the call; what was written of it may be there twice then.
  Status Write(const std::string& topic, const std::vector<OutMessage>& messages);

 private:
  explicit TopicWriter(const ops::KafkaConfig& config) : config_(config) {}
  Status Connect();
  Status WriteOnce(const std::string& topic, const std::vector<OutMessage>& messages);
  static void Delivered(rd_kafka_t*, const rd_kafka_message_t* message, void*);
  Status Send(const std::string& topic, const OutMessage& message);

  const ops::KafkaConfig config_;
  rd_kafka_resp_err_t failure_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  KafkaHandle producer_;  // tells failure_: gone before it
};

}  // namespace seendb::ingest
