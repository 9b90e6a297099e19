#include "ingest/topic_writer.h"

#include "ops/log.h"

namespace seendb::ingest {
namespace {

constexpr int kFlushMs = 6'000;  // a little longer than a message may take

Status Failed(const std::string& topic, rd_kafka_resp_err_t error) {
  return Status::Unavailable("write to " + topic + ": " + rd_kafka_err2str(error));
}

}  // namespace

Result<std::unique_ptr<TopicWriter>> TopicWriter::New(const ops::KafkaConfig& config) {
  std::unique_ptr<TopicWriter> writer(new TopicWriter(config));
  const Status connected = writer->Connect();
  if (!connected.ok()) return connected;
  return writer;
}

Status TopicWriter::Connect() {
  Result<KafkaConf> conf = ProducerConf(config_);
  if (!conf.ok()) return conf.status();
  rd_kafka_conf_set_dr_msg_cb(conf->get(), Delivered);
  Result<KafkaHandle> producer = NewKafka(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!producer.ok()) return producer.status();
  producer_ = std::move(producer).value();
  return Status::Ok();
}

// Told of each message's fate, within Write.
void TopicWriter::Delivered(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  auto* const failure = static_cast<rd_kafka_resp_err_t*>(message->_private);
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) *failure = message->err;
}

// After a fatal error the producer takes no message any more, and what it had is not delivered.
Status TopicWriter::Write(const std::string& topic, const std::vector<OutMessage>& messages) {
  Status written = WriteOnce(topic, messages);
  if (written.ok()) return written;
  char why[256] = "";
  const rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(producer_.get(), why, sizeof(why));
  if (fatal == RD_KAFKA_RESP_ERR_NO_ERROR) return written;
  ops::Log(ops::LogLevel::kWarn, "kafka_producer_replaced",
           {{"error", rd_kafka_err2name(fatal)}, {"reason", why}});
  if (const Status connected = Connect(); !connected.ok()) return written;
  return WriteOnce(topic, messages);
}

Status TopicWriter::WriteOnce(const std::string& topic, const std::vector<OutMessage>& messages) {
  failure_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (const OutMessage& message : messages) {
    Status sent = Send(topic, message);
    if (!sent.ok()) return sent;
  }
  const rd_kafka_resp_err_t flushed = rd_kafka_flush(producer_.get(), kFlushMs);
  if (flushed != RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_purge(producer_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(producer_.get(), kFlushMs);
    return Failed(topic, flushed);
  }
  return failure_ == RD_KAFKA_RESP_ERR_NO_ERROR ? Status::Ok() : Failed(topic, failure_);
}

Status TopicWriter::Send(const std::string& topic, const OutMessage& message) {
  std::vector<rd_kafka_vu_t> fields;
  const auto add = [&](rd_kafka_vtype_t type) -> rd_kafka_vu_t& {
    fields.emplace_back();
    fields.back().vtype = type;
    return fields.back();
  };
  const auto bytes = [&](rd_kafka_vtype_t type, const std::string& text) {
    auto& to = add(type).u.mem;
    to.ptr = const_cast<char*>(text.data());  // copied, by VTYPE_MSGFLAGS
    to.size = text.size();
  };
  add(RD_KAFKA_VTYPE_TOPIC).u.cstr = topic.c_str();
  add(RD_KAFKA_VTYPE_MSGFLAGS).u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
  if (!message.key.empty()) bytes(RD_KAFKA_VTYPE_KEY, message.key);
  bytes(RD_KAFKA_VTYPE_VALUE, message.payload);
  // Made here, since librdkafka before 2.5 frees headers of its own making twice where the topic
  // takes no messages.
  rd_kafka_headers_t* const headers = rd_kafka_headers_new(message.headers.size());
  for (const auto& [name, text] : message.headers) {
    rd_kafka_header_add(headers, name, -1, text.data(), static_cast<ssize_t>(text.size()));
  }
  add(RD_KAFKA_VTYPE_HEADERS).u.headers = headers;
  add(RD_KAFKA_VTYPE_OPAQUE).u.ptr = &failure_;
  rd_kafka_error_t* const error = rd_kafka_produceva(producer_.get(), fields.data(), fields.size());
  if (error == nullptr) return Status::Ok();
  rd_kafka_headers_destroy(headers);
  const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
  rd_kafka_error_destroy(error);
  return Failed(topic, code);
}

}  // namespace seendb::ingest
