#include "cluster/topic_writer.h"

#include <algorithm>
#include <utility>

#include "cluster/deadline.h"
#include "kafka/handle.h"

namespace seendb::cluster {
namespace {

using kafka::KafkaConf;
using kafka::KafkaHandle;
using kafka::KafkaOwned;

constexpr int kReportsMs = 20, kSliceMs = 200;

/// The outcome of a producer's messages.
struct Deliveries {
  size_t done = 0;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;  // the first
  int64_t last_offset = -1;
};

void NoteDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void* noted) {
  auto* const deliveries = static_cast<Deliveries*>(noted);
  ++deliveries->done;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    deliveries->last_offset = std::max(deliveries->last_offset, message->offset);
  } else if (deliveries->error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    deliveries->error = message->err;
  }
}

/// Until when a call waits.
struct Patience {
  Deadline deadline;
  const std::atomic<bool>* give_up;

  bool over() const { return deadline.LeftMs() == 0 || (give_up != nullptr && *give_up); }
};

/// The partitions of the topic. A question that ends within its slice was answered, or failed.
Result<std::vector<int32_t>> AskPartitions(rd_kafka_t* producer, const std::string& topic,
                                           const Patience& patience) {
  while (true) {
    const Deadline slice(std::clamp(patience.deadline.LeftMs(), 1, kSliceMs));
    auto there = kafka::PartitionsOf(producer, topic, std::max(1, slice.LeftMs()));
    if (there.ok() || slice.LeftMs() > 0 || patience.over()) return there;
  }
}

/// Waits for the reports of all that was handed over.
void AwaitReports(rd_kafka_t* producer, int most_ms, const std::atomic<bool>* give_up) {
  const Patience patience{Deadline(most_ms), give_up};
  while (!patience.over()) {
    const int slice_ms = std::clamp(patience.deadline.LeftMs(), 1, kSliceMs);
    if (rd_kafka_flush(producer, slice_ms) == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  }
}

/// Hands one over; where the queue is full, waits for what is on its way.
rd_kafka_resp_err_t Hand(rd_kafka_t* producer, rd_kafka_topic_t* topic,
                         const NewTopicRecord& record, const Patience& patience) {
  while (true) {
    const std::string_view value = record.value.value_or(std::string_view());
    char* const bytes = record.value ? const_cast<char*>(value.data()) : nullptr;
    if (rd_kafka_produce(topic, 0, RD_KAFKA_MSG_F_COPY, bytes, value.size(), record.key.data(),
                         record.key.size(), nullptr) == 0) {
      return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    const rd_kafka_resp_err_t error = rd_kafka_last_error();
    if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL || patience.over()) return error;
    rd_kafka_poll(producer, kReportsMs);
  }
}

}  // namespace

Result<int64_t> AppendInOrder(const KafkaAccess& access, const std::string& topic_name,
                              std::span<const NewTopicRecord> records, int timeout_ms,
                              const std::atomic<bool>* give_up) {
  const Patience patience{Deadline(timeout_ms), give_up};
  Result<KafkaConf> conf =
      ConfOf(access, {{"client.id", "seendb-cluster"},
                      {"acks", "all"},
                      {"enable.idempotence", "true"},
                      {"linger.ms", "0"},
                      {"compression.type", records.size() > 1 ? "lz4" : "none"},
                      {"message.timeout.ms", std::to_string(std::max(1, timeout_ms))},
                      {"allow.auto.create.topics", "false"},
                      {"reconnect.backoff.max.ms", "1000"},
                      {"log.connection.close", "false"}});
  if (!conf.ok()) return conf.status();
  Deliveries deliveries;
  rd_kafka_conf_set_opaque(conf->get(), &deliveries);
  rd_kafka_conf_set_dr_msg_cb(conf->get(), NoteDelivery);
  const Result<KafkaHandle> producer = kafka::NewHandle(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!producer.ok()) return producer.status();
  const KafkaOwned<rd_kafka_topic_t> topic(
      rd_kafka_topic_new(producer->get(), topic_name.c_str(), nullptr));
  // A message to a topic that is not there would wait for it until its timeout.
  const auto there = AskPartitions(producer->get(), topic_name, patience);
  if (!there.ok()) {
    return Status::Unavailable("topic " + topic_name + ": " +
                               std::string(there.status().message()));
  }
  if (there->empty()) return Status::NotFound("topic " + topic_name + " is not there");
  rd_kafka_resp_err_t error = topic ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error();
  size_t handed = 0;
  for (; error == RD_KAFKA_RESP_ERR_NO_ERROR && handed < records.size(); ++handed) {
    error = Hand(producer->get(), topic.get(), records[handed], patience);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = deliveries.error;  // none behind a gap
  }
  // A message ends within its timeout, delivered or not; the report of one that is purged comes at
  // once.
  AwaitReports(producer->get(), patience.deadline.LeftMs() + 1'000, give_up);
  if (deliveries.done < handed) {
    rd_kafka_purge(producer->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(producer->get(), 1'000);
  }
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = deliveries.error;
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR && deliveries.done < records.size()) {
    error = RD_KAFKA_RESP_ERR__TIMED_OUT;
  }
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return deliveries.last_offset;
  return Status::Unavailable("topic " + topic_name + ": " + rd_kafka_err2str(error));
}

}  // namespace seendb::cluster
