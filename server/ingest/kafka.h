// server/ingest/kafka.h: the settings of what consumes and produces here.

#pragma once

#include <string>

#include <librdkafka/rdkafka.h>

#include "kafka/handle.h"
#include "ops/kafka_config.h"
#include "seendb/status.h"

namespace seendb::ingest {

using kafka::KafkaConf;
using kafka::KafkaHandle;
using kafka::KafkaPartitions;
using kafka::KafkaQueue;
using kafka::OffsetAt;
using kafka::PartitionsOf;
using kafka::Watermarks;

/// The settings of the consumer; kInvalidArgument names a property librdkafka does not take.
Result<KafkaConf> ConsumerConf(const ops::KafkaConfig& config);
/// Those of a producer.
Result<KafkaConf> ProducerConf(const ops::KafkaConfig& config);
/// kIncompatible, in words for people: the topic is compacted, so that what its older messages said
/// of an item is lost. Settings that the brokers do not tell are taken to be right.
Status CheckNotCompacted(rd_kafka_t* handle, const std::string& topic, int timeout_ms);
/// A handle by these settings.
Result<KafkaHandle> NewKafka(rd_kafka_type_t type, KafkaConf conf);

}  // namespace seendb::ingest
