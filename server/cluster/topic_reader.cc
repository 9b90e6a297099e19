#include "cluster/topic_reader.h"

#include <utility>

#include "cluster/deadline.h"

namespace seendb::cluster {

using kafka::KafkaConf;
using kafka::KafkaHandle;

Result<std::unique_ptr<TopicReader>> TopicReader::Open(const KafkaAccess& access,
                                                       const std::string& topic,
                                                       const std::string& client, Topic kind) {
  const bool later = kind == Topic::kCompactedLater;
  std::unique_ptr<TopicReader> reader(new TopicReader(topic, later));
  Result<KafkaConf> conf = ConsumerConfOf(access, client);
  if (!conf.ok()) return conf.status();
  if (later) {
    if (Status set = kafka::SetProperty(conf->get(), "enable.partition.eof", "true"); !set.ok()) {
      return set;
    }
  }
  Result<KafkaHandle> handle = kafka::NewHandle(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!handle.ok()) return handle.status();
  reader->consumer_ = std::move(handle).value();
  rd_kafka_poll_set_consumer(reader->consumer_.get());
  return reader;
}

// That a topic is not there is looked for first: the question for its ends waits for one that
// comes.
Result<std::pair<int64_t, int64_t>> TopicReader::AskEnds(int timeout_ms) {
  const Deadline deadline(timeout_ms);
  Status asked;
  if (may_lack_topic_) {
    const auto partitions = kafka::PartitionsOf(consumer_.get(), topic_, timeout_ms);
    if (partitions.ok() && partitions->empty()) {
      return Status::NotFound("topic " + topic_ + " is not there");
    }
    asked = partitions.status();
  }
  if (asked.ok()) {
    auto ends = kafka::Watermarks(consumer_.get(), topic_, 0, std::max(1, deadline.LeftMs()));
    if (ends.ok()) return ends;
    asked = ends.status();
  }
  return Status::Unavailable("topic " + topic_ + ": " + std::string(asked.message()));
}

Status TopicReader::Assign(int64_t next_offset) {
  const kafka::KafkaPartitions list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), 0)->offset = next_offset;
  const rd_kafka_resp_err_t error = rd_kafka_assign(consumer_.get(), list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Unavailable(rd_kafka_err2str(error));
  assigned_ = true;
  return {};
}

TopicReader::Message TopicReader::Next(int wait_ms) {
  return Message(rd_kafka_consumer_poll(consumer_.get(), wait_ms));
}

Status TopicReader::FailureOf(const rd_kafka_message_t& message) const {
  return Status::Unavailable("topic " + topic_ + ": " + rd_kafka_message_errstr(&message));
}

}  // namespace seendb::cluster
