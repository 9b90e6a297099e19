#include "cluster/meta_log.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace seendb::cluster {
namespace {

using kafka::KafkaConf;
using kafka::KafkaHandle;
using kafka::KafkaOwned;

constexpr int kAskMs = 5'000;

class Deadline {
 public:
  explicit Deadline(int timeout_ms)
      : at_(std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms)) {}
  int LeftMs() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        at_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<int64_t>(0, left.count()));
  }

 private:
  const std::chrono::steady_clock::time_point at_;
};

/// What became of the one message of a producer.
struct Delivery {
  bool done = false;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
  int64_t offset = -1;
};

void NoteDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  auto* const delivery = static_cast<Delivery*>(message->_private);
  *delivery = {true, message->err, message->offset};
}

}  // namespace

MetaLog::MetaLog(KafkaAccess access, std::string topic, Meta from)
    : access_(std::move(access)), topic_(std::move(topic)), meta_(std::move(from)) {}
MetaLog::~MetaLog() = default;

Result<std::unique_ptr<MetaLog>> MetaLog::Open(const KafkaAccess& access,
                                               const std::string& cluster, Meta from) {
  if (Status named = CheckClusterName(cluster); !named.ok()) return named;
  std::unique_ptr<MetaLog> log(new MetaLog(access, MetaTopicOf(cluster), std::move(from)));
  Result<KafkaConf> conf = ConsumerConfOf(access, "seendb-cluster");
  if (!conf.ok()) return conf.status();
  Result<KafkaHandle> handle = kafka::NewHandle(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!handle.ok()) return handle.status();
  log->consumer_ = std::move(handle).value();
  rd_kafka_poll_set_consumer(log->consumer_.get());
  return log;
}

void MetaLog::OnRefused(std::function<void(int64_t, const Status&)> refused) {
  refused_ = std::move(refused);
}

// Where the topic begins is looked up first: a record that is gone is never passed over.
Status MetaLog::Start(int timeout_ms) {
  if (assigned_) return {};
  const auto ends = kafka::Watermarks(consumer_.get(), topic_, 0, timeout_ms);
  if (!ends.ok()) {
    return Status::Unavailable("topic " + topic_ + ": " + std::string(ends.status().message()));
  }
  if (ends->first > meta_.next_offset()) {
    return Status::Corruption("topic " + topic_ + " begins at offset " +
                              std::to_string(ends->first) + "; the records from " +
                              std::to_string(meta_.next_offset()) + " on are gone");
  }
  if (ends->second < meta_.next_offset()) {
    return Status::Corruption("topic " + topic_ + " ends at offset " +
                              std::to_string(ends->second) + ", before what was read of it (" +
                              std::to_string(meta_.next_offset()) + ")");
  }
  const kafka::KafkaPartitions list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), 0)->offset = meta_.next_offset();
  const rd_kafka_resp_err_t error = rd_kafka_assign(consumer_.get(), list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Unavailable(rd_kafka_err2str(error));
  assigned_ = true;
  return {};
}

Status MetaLog::Poll(int wait_ms) {
  Status status = Start(std::max(wait_ms, kAskMs));
  for (int left_ms = wait_ms; status.ok(); left_ms = 0) {
    const KafkaOwned<rd_kafka_message_t> message(rd_kafka_consumer_poll(consumer_.get(), left_ms));
    if (!message) return {};
    status = Take(*message);
  }
  // Where the next call goes on is looked up anew.
  assigned_ = false;
  return status;
}

Status MetaLog::Take(const rd_kafka_message_t& message) {
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return Status::Unavailable("topic " + topic_ + ": " + rd_kafka_message_errstr(&message));
  }
  const std::string_view value(static_cast<const char*>(message.payload), message.len);
  Status status = meta_.Apply(message.offset, value);
  if (message.offset == awaited_) verdict_ = status;
  if (status.code() == StatusCode::kIncompatible) {
    return Status::Incompatible("topic " + topic_ + ", offset " + std::to_string(message.offset) +
                                ": " + std::string(status.message()));
  }
  if (!status.ok() && refused_) refused_(message.offset, status);
  return {};
}

Status MetaLog::ReadToEnd(int timeout_ms) {
  const Deadline deadline(timeout_ms);
  if (Status status = Start(timeout_ms); !status.ok()) return status;
  const auto ends = kafka::Watermarks(consumer_.get(), topic_, 0, std::max(1, deadline.LeftMs()));
  if (!ends.ok()) {
    return Status::Unavailable("topic " + topic_ + ": " + std::string(ends.status().message()));
  }
  while (meta_.next_offset() < ends->second) {
    const int left_ms = deadline.LeftMs();
    if (left_ms == 0) return Status::Unavailable("topic " + topic_ + " was not read in time");
    if (Status status = Poll(left_ms); !status.ok()) return status;
  }
  return {};
}

Result<int64_t> MetaLog::Append(const std::string& record, int timeout_ms) {
  Result<KafkaConf> conf =
      ConfOf(access_, {{"client.id", "seendb-cluster"},
                       {"acks", "all"},
                       {"enable.idempotence", "true"},
                       {"linger.ms", "0"},
                       {"message.timeout.ms", std::to_string(std::max(1, timeout_ms))},
                       {"reconnect.backoff.max.ms", "1000"},
                       {"log.connection.close", "false"}});
  if (!conf.ok()) return conf.status();
  Delivery delivery;
  rd_kafka_conf_set_dr_msg_cb(conf->get(), NoteDelivery);
  const Result<KafkaHandle> producer = kafka::NewHandle(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!producer.ok()) return producer.status();
  const KafkaOwned<rd_kafka_topic_t> topic(
      rd_kafka_topic_new(producer->get(), topic_.c_str(), nullptr));
  if (!topic ||
      rd_kafka_produce(topic.get(), 0, RD_KAFKA_MSG_F_COPY, const_cast<char*>(record.data()),
                       record.size(), nullptr, 0, &delivery) != 0) {
    return Status::Unavailable("topic " + topic_ + ": " + rd_kafka_err2str(rd_kafka_last_error()));
  }
  // A message ends within its timeout, delivered or not; the report of one that is purged comes at
  // once.
  rd_kafka_flush(producer->get(), timeout_ms + 1'000);
  if (!delivery.done) {
    rd_kafka_purge(producer->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(producer->get(), 1'000);
  }
  if (delivery.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return Status::Unavailable("topic " + topic_ + ": " + rd_kafka_err2str(delivery.error));
  }
  return delivery.offset;
}

Status MetaLog::Commit(const MetaRecord& record, int timeout_ms) {
  const Deadline deadline(timeout_ms);
  const Result<int64_t> offset = Append(EncodeMeta(record), timeout_ms);
  if (!offset.ok()) return offset.status();
  awaited_ = *offset;
  verdict_.reset();
  Status status;
  while (status.ok() && !verdict_) {
    const int left_ms = deadline.LeftMs();
    status = left_ms == 0 ? Status::Unavailable("topic " + topic_ + " was not read in time")
                          : Poll(left_ms);
  }
  awaited_ = -1;
  if (!verdict_) return status;
  if (verdict_->ok()) return {};
  return Status::Incompatible("the change does not count: " + std::string(verdict_->message()));
}

}  // namespace seendb::cluster
