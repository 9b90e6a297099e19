#include "kafka_handle.h"

#include <algorithm>

namespace seendb::tool {
namespace {

constexpr size_t kErrorBytes = 512;

void DropLog(const rd_kafka_t*, int, const char*, const char*) {}

Status SetProperty(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char text[kErrorBytes] = "";
  const auto set = rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof(text));
  return set == RD_KAFKA_CONF_OK ? Status() : Status::InvalidArgument(text);
}

}  // namespace

/// What librdkafka says of its connections: the first is the one that tells why.
void KafkaHandle::Failed(rd_kafka_t*, int, const char* reason, void* self) {
  std::string& trouble = static_cast<KafkaHandle*>(self)->trouble_;
  if (trouble.empty()) trouble = reason;
}

void KafkaHandle::Delivered(rd_kafka_t* handle, const rd_kafka_message_t* message, void* self) {
  auto* const owner = static_cast<KafkaHandle*>(self);
  owner->on_delivered_(handle, message, owner->self_);
}

Result<std::unique_ptr<KafkaHandle>> KafkaHandle::Open(rd_kafka_type_t type, Settings settings,
                                                       const std::vector<std::string>& properties,
                                                       OnDelivered on_delivered, void* self) {
  std::unique_ptr<KafkaHandle> made(new KafkaHandle);
  made->on_delivered_ = on_delivered;
  made->self_ = self;
  for (const std::string& given : properties) {
    const size_t equals = given.find('=');
    if (equals == std::string::npos) {
      return Status::InvalidArgument("--property: write NAME=VALUE");
    }
    settings.emplace_back(given.substr(0, equals), given.substr(equals + 1));
  }
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  Status status;
  for (const auto& [name, value] : settings) {
    if (status.ok()) status = SetProperty(conf, name, value);
  }
  rd_kafka_conf_set_opaque(conf, made.get());
  rd_kafka_conf_set_error_cb(conf, Failed);
  if (on_delivered != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, Delivered);
  // A line for each try to connect hides the one that matters; who asks for `debug` wants them.
  const bool debug = std::any_of(settings.begin(), settings.end(),
                                 [](const auto& one) { return one.first == "debug"; });
  if (!debug) rd_kafka_conf_set_log_cb(conf, DropLog);
  char text[kErrorBytes] = "";
  if (status.ok()) made->handle_ = rd_kafka_new(type, conf, text, sizeof(text));
  if (made->handle_ != nullptr) return made;
  rd_kafka_conf_destroy(conf);
  return status.ok() ? Status::InvalidArgument(text) : status;
}

KafkaHandle::~KafkaHandle() {
  if (handle_ != nullptr) rd_kafka_destroy(handle_);
}

void KafkaHandle::Poll(int wait_ms) { rd_kafka_poll(handle_, wait_ms); }

Status KafkaHandle::Unreachable(const std::string& brokers, rd_kafka_resp_err_t error) {
  rd_kafka_poll(handle_, 0);  // calls Failed
  return Status::Unavailable("can't reach Kafka at " + brokers + ": " +
                             (trouble_.empty() ? rd_kafka_err2str(error) : trouble_));
}

}  // namespace seendb::tool
