// server/kafka/handle.h: librdkafka's handles and the questions asked of its brokers.
//
// Questions block up to `timeout_ms`; what fails at the brokers is kUnavailable.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "seendb/status.h"

namespace seendb::kafka {

/// Frees what librdkafka made.
struct KafkaDeleter {
  void operator()(rd_kafka_t* handle) const {
    rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
  void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
  void operator()(rd_kafka_AdminOptions_t* options) const {
    rd_kafka_AdminOptions_destroy(options);
  }
  void operator()(rd_kafka_ConfigResource_t* resource) const {
    rd_kafka_ConfigResource_destroy(resource);
  }
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
  void operator()(const rd_kafka_metadata_t* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
};
template <typename T>
using KafkaOwned = std::unique_ptr<T, KafkaDeleter>;
using KafkaHandle = KafkaOwned<rd_kafka_t>;
using KafkaConf = KafkaOwned<rd_kafka_conf_t>;
using KafkaQueue = KafkaOwned<rd_kafka_queue_t>;
using KafkaPartitions = KafkaOwned<rd_kafka_topic_partition_list_t>;

/// Sets a property of librdkafka. kInvalidArgument (field "/NAME"): it does not take it.
Status SetProperty(rd_kafka_conf_t* conf, const std::string& name, const std::string& value);
/// A handle by these settings; kInvalidArgument: they contradict each other.
Result<KafkaHandle> NewHandle(rd_kafka_type_t type, KafkaConf conf);

/// The partitions of a topic, ascending; none where there is no such topic.
Result<std::vector<int32_t>> PartitionsOf(rd_kafka_t* handle, const std::string& topic,
                                          int timeout_ms);
/// In how many copies a topic is kept: of its first partition; 0: there is no such topic.
Result<uint32_t> CopiesOf(rd_kafka_t* handle, const std::string& topic, int timeout_ms);
/// The brokers that lead the partitions of a topic, by partition. Those that nobody leads are left
/// out. The handle sends questions to these brokers from then on.
Result<std::map<int32_t, int32_t>> LeadersOf(rd_kafka_t* handle, const std::string& topic,
                                             int timeout_ms);
/// The offsets behind the last messages of partitions that one broker leads, by one question to it.
/// Fails where any of them fails.
Result<std::map<int32_t, int64_t>> EndsOf(rd_kafka_t* handle, const std::string& topic,
                                          const std::vector<int32_t>& partitions, int timeout_ms);
/// What the broker keeps of a partition: from the first to before the second. Two questions.
Result<std::pair<int64_t, int64_t>> Watermarks(rd_kafka_t* handle, const std::string& topic,
                                               int32_t partition, int timeout_ms);
/// A setting of a topic ("cleanup.policy"), as text; kUnavailable also where the brokers do not
/// tell it, or do not have it.
Result<std::string> TopicSetting(rd_kafka_t* handle, const std::string& topic,
                                 const std::string& name, int timeout_ms);
/// The first message at or after a time; -1 where there is none yet.
Result<int64_t> OffsetAt(rd_kafka_t* handle, const std::string& topic, int32_t partition,
                         int64_t at_ms, int timeout_ms);

}  // namespace seendb::kafka
