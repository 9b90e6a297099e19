// server/ingest/kafka.h: librdkafka's handles and the questions asked of a cluster.
//
// Questions block up to `timeout_ms`; what fails in the cluster is kUnavailable.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "ops/kafka_config.h"
#include "seendb/status.h"

namespace seendb::ingest {

/// Frees what librdkafka made.
struct KafkaDeleter {
  void operator()(rd_kafka_t* handle) const {
    rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
  void operator()(const rd_kafka_metadata_t* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
};
using KafkaHandle = std::unique_ptr<rd_kafka_t, KafkaDeleter>;
using KafkaConf = std::unique_ptr<rd_kafka_conf_t, KafkaDeleter>;
using KafkaQueue = std::unique_ptr<rd_kafka_queue_t, KafkaDeleter>;
using KafkaPartitions = std::unique_ptr<rd_kafka_topic_partition_list_t, KafkaDeleter>;

/// The settings of the consumer; kInvalidArgument names a property librdkafka does not take.
Result<KafkaConf> ConsumerConf(const ops::KafkaConfig& config);
/// Those of a producer.
Result<KafkaConf> ProducerConf(const ops::KafkaConfig& config);
/// A handle by these settings.
Result<KafkaHandle> NewKafka(rd_kafka_type_t type, KafkaConf conf);

/// The partitions of a topic, ascending; none where there is no such topic.
Result<std::vector<int32_t>> PartitionsOf(rd_kafka_t* handle, const std::string& topic,
                                          int timeout_ms);
/// What the broker keeps of a partition: from the first to before the second.
Result<std::pair<int64_t, int64_t>> Watermarks(rd_kafka_t* handle, const std::string& topic,
                                               int32_t partition, int timeout_ms);
/// The first message at or after a time; -1 where there is none yet.
Result<int64_t> OffsetAt(rd_kafka_t* handle, const std::string& topic, int32_t partition,
                         int64_t at_ms, int timeout_ms);

}  // namespace seendb::ingest
