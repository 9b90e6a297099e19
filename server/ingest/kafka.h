// server/ingest/kafka.h: the settings of what consumes and produces here.

#pragma once

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
/// A handle by these settings.
Result<KafkaHandle> NewKafka(rd_kafka_type_t type, KafkaConf conf);

}  // namespace seendb::ingest
