#include "replica/producer.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::replica {
namespace {

constexpr int kReportsMs = 100;
constexpr int kMetadataMs = 2'000;
constexpr int kGiveUpMs = 1'000;
constexpr std::chrono::milliseconds kPause{500};

}  // namespace

struct Producer::Connection {
  kafka::KafkaHandle handle;
  kafka::KafkaOwned<rd_kafka_topic_t> topic;  // goes first
};

Producer::Producer(const cluster::KafkaAccess& access, std::string topic,
                   std::chrono::milliseconds delivery, Callbacks callbacks)
    : access_(access),
      topic_(std::move(topic)),
      delivery_(delivery),
      callbacks_(std::move(callbacks)) {}

Result<std::unique_ptr<Producer>> Producer::New(const cluster::KafkaAccess& access,
                                                const std::string& topic,
                                                std::chrono::milliseconds delivery,
                                                Callbacks callbacks) {
  std::unique_ptr<Producer> producer(new Producer(access, topic, delivery, std::move(callbacks)));
  Result<std::shared_ptr<Connection>> made = producer->Connect();
  if (!made.ok()) return made.status();
  {
    const MutexLock lock(producer->mutex_);
    producer->connection_ = std::move(made).value();
  }
  producer->worker_.Start("log-producer", [self = producer.get()] { self->Run(); });
  return producer;
}

Result<std::shared_ptr<Producer::Connection>> Producer::Connect() {
  Result<kafka::KafkaConf> conf =
      cluster::ConfOf(access_, {{"client.id", "seendb-log"},
                                {"acks", "all"},
                                {"enable.idempotence", "true"},
                                {"linger.ms", "1"},
                                {"compression.type", "lz4"},
                                {"queue.buffering.max.kbytes", "65536"},
                                {"message.timeout.ms", std::to_string(delivery_.count())},
                                {"allow.auto.create.topics", "false"},
                                {"reconnect.backoff.max.ms", "500"},
                                {"log.connection.close", "false"}});
  if (!conf.ok()) return conf.status();
  rd_kafka_conf_set_opaque(conf->get(), this);
  rd_kafka_conf_set_dr_msg_cb(conf->get(), Delivered);
  rd_kafka_conf_set_error_cb(conf->get(), Failed);
  Result<kafka::KafkaHandle> handle = kafka::NewHandle(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!handle.ok()) return handle.status();
  auto connection = std::make_shared<Connection>();
  connection->handle = std::move(handle).value();
  connection->topic.reset(rd_kafka_topic_new(connection->handle.get(), topic_.c_str(), nullptr));
  if (!connection->topic) return Status::Unavailable(rd_kafka_err2str(rd_kafka_last_error()));
  return connection;
}

void Producer::Delivered(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
  static_cast<Producer*>(self)->callbacks_.delivered(reinterpret_cast<uintptr_t>(message->_private),
                                                     message->err, message->offset);
}

void Producer::Failed(rd_kafka_t*, int error, const char* reason, void* self) {
  ops::Log(
      ops::LogLevel::kWarn, "kafka_error",
      {{"error", rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(error))}, {"reason", reason}});
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) static_cast<Producer*>(self)->callbacks_.down();
}

// A topic whose leaders are not known yet would keep its first message for up to a second.
void Producer::Run() {
  std::shared_ptr<Connection> connection;
  while (!worker_.stopping()) {
    std::shared_ptr<Connection> now;
    {
      const MutexLock lock(mutex_);
      now = connection_;
    }
    if (now != connection) {
      connection = now;
      const auto known = kafka::PartitionsOf(connection->handle.get(), topic_, kMetadataMs);
      static_cast<void>(known);  // librdkafka goes on asking
    }
    rd_kafka_poll(connection->handle.get(), kReportsMs);
    if (rd_kafka_fatal_error(connection->handle.get(), nullptr, 0) != 0) Replace(connection);
  }
  rd_kafka_purge(connection->handle.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(connection->handle.get(), kGiveUpMs);
}

void Producer::Replace(const std::shared_ptr<Connection>& former) {
  char why[256] = "";
  const rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(former->handle.get(), why, sizeof(why));
  ops::Log(ops::LogLevel::kWarn, "kafka_producer_replaced",
           {{"error", rd_kafka_err2name(fatal)}, {"reason", why}});
  Result<std::shared_ptr<Connection>> made = Connect();
  if (!made.ok()) {
    worker_.Pause(kPause);
    return;
  }
  {
    const MutexLock lock(mutex_);
    connection_ = std::move(made).value();
  }
  rd_kafka_purge(former->handle.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(former->handle.get(), kGiveUpMs);
}

Status Producer::Send(uint32_t partition, std::string_view key, std::string_view value,
                      std::string_view header, uint64_t id) {
  std::shared_ptr<Connection> connection;
  {
    const MutexLock lock(mutex_);
    connection = connection_;
  }
  std::array<rd_kafka_vu_t, 7> fields{};
  fields[0].vtype = RD_KAFKA_VTYPE_RKT;
  fields[0].u.rkt = connection->topic.get();
  fields[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  fields[1].u.i32 = static_cast<int32_t>(partition);
  fields[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  fields[2].u.i = RD_KAFKA_MSG_F_COPY;
  fields[3].vtype = RD_KAFKA_VTYPE_KEY;
  fields[3].u.mem = {const_cast<char*>(key.data()), key.size()};
  fields[4].vtype = RD_KAFKA_VTYPE_VALUE;
  fields[4].u.mem = {const_cast<char*>(value.data()), value.size()};
  // Made here, since librdkafka before 2.5 frees headers of its own making twice where the
  // partition takes no messages.
  rd_kafka_headers_t* const headers = rd_kafka_headers_new(1);
  rd_kafka_header_add(headers, cluster::kLogHeaderName, -1, header.data(),
                      static_cast<ssize_t>(header.size()));
  fields[5].vtype = RD_KAFKA_VTYPE_HEADERS;
  fields[5].u.headers = headers;
  fields[6].vtype = RD_KAFKA_VTYPE_OPAQUE;
  fields[6].u.ptr = reinterpret_cast<void*>(static_cast<uintptr_t>(id));
  rd_kafka_error_t* const error =
      rd_kafka_produceva(connection->handle.get(), fields.data(), fields.size());
  if (error == nullptr) return {};
  rd_kafka_headers_destroy(headers);
  const Status failed =
      Status::Unavailable(topic_ + ": " + std::string(rd_kafka_error_string(error)));
  rd_kafka_error_destroy(error);
  return failed;
}

}  // namespace seendb::replica
