// server/cluster/topic_reader.h: reads a topic of one partition from a given offset on. The caller
// says what an offset that is gone means.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cluster/topics.h"
#include "kafka/handle.h"
#include "seendb/status.h"

namespace seendb::cluster {

/// See the head of this file. Threads: one at a time.
class TopicReader {
 public:
  using Message = kafka::KafkaOwned<rd_kafka_message_t>;

  enum class Topic : uint8_t {
    kWhole,  ///< it keeps everything, and is there as long as the cluster
    /// It is compacted, so that its last messages may be gone: Next gives a message
    /// RD_KAFKA_RESP_ERR__PARTITION_EOF too, whose offset is behind all there is. And it may not be
    /// there yet.
    kCompactedLater,
  };
  /// Nothing is asked of the brokers yet. `client`: what these see.
  static Result<std::unique_ptr<TopicReader>> Open(const KafkaAccess& access,
                                                   const std::string& topic,
                                                   const std::string& client, Topic kind);

  /// The offsets that the broker keeps: from the first up to the second. kUnavailable: it does not
  /// answer, or there is no such topic. kNotFound: the brokers say so of one that may not be there.
  Result<std::pair<int64_t, int64_t>> AskEnds(int timeout_ms);
  /// Goes on at an offset.
  Status Assign(int64_t next_offset);
  bool assigned() const { return assigned_; }
  /// Assign is to be called anew.
  void Forget() { assigned_ = false; }
  /// The next message within `wait_ms`, maybe one that tells of a failure; null: none came.
  Message Next(int wait_ms);
  /// kUnavailable, with topic and reason, of a message that tells of a failure.
  Status FailureOf(const rd_kafka_message_t& message) const;
  const std::string& topic() const { return topic_; }

 private:
  TopicReader(std::string topic, bool may_lack_topic)
      : topic_(std::move(topic)), may_lack_topic_(may_lack_topic) {}

  const std::string topic_;
  const bool may_lack_topic_;
  kafka::KafkaHandle consumer_;
  bool assigned_ = false;
};

}  // namespace seendb::cluster
