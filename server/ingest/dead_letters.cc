#include "ingest/dead_letters.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "ingest/kafka.h"
#include "ops/log.h"

namespace seendb::ingest {
namespace {

constexpr size_t kPayloadBytes = 900'000;
constexpr int kFlushMs = 6'000;  // a little longer than a message may take

nlohmann::ordered_json Facts(const std::string& topic, const DeadLetter& letter) {
  return {{"topic", topic},
          {"partition", letter.partition},
          {"offset", letter.offset},
          {"reason", letter.reason}};
}

class ToLog final : public DeadLetters {
 public:
  Status Write(const std::string& topic, const std::vector<DeadLetter>& letters) override {
    for (const DeadLetter& letter : letters) {
      ops::Log(ops::LogLevel::kWarn, "dead_letter", Facts(topic, letter));
    }
    return Status::Ok();
  }
};

class ToFile final : public DeadLetters {
 public:
  ToFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  ~ToFile() override { close(file_); }

  Status Write(const std::string& topic, const std::vector<DeadLetter>& letters) override {
    std::string lines;
    for (const DeadLetter& letter : letters) {
      nlohmann::ordered_json line = Facts(topic, letter);
      line["key"] = letter.key;
      line["payload"] = letter.payload;
      lines += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    }
    for (size_t at = 0; at < lines.size();) {
      const ssize_t written = write(file_, lines.data() + at, lines.size() - at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return Failed();
      at += static_cast<size_t>(written);
    }
    return fdatasync(file_) == 0 ? Status::Ok() : Failed();
  }

 private:
  Status Failed() const {
    return Status::IOError("write " + path_ + ": " + std::generic_category().message(errno));
  }
  const std::string path_;
  const int file_;
};

class ToTopic final : public DeadLetters {
 public:
  ToTopic(std::string name, KafkaHandle producer)
      : name_(std::move(name)), producer_(std::move(producer)) {}

  /// Told of each message's fate, within Write.
  static void Delivered(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    auto* const unsent = static_cast<rd_kafka_resp_err_t*>(message->_private);
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) *unsent = message->err;
  }

  Status Write(const std::string& topic, const std::vector<DeadLetter>& letters) override {
    failure_ = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (const DeadLetter& letter : letters) {
      Status sent = Send(topic, letter);
      if (!sent.ok()) return sent;
    }
    const rd_kafka_resp_err_t flushed = rd_kafka_flush(producer_.get(), kFlushMs);
    if (flushed != RD_KAFKA_RESP_ERR_NO_ERROR) {
      rd_kafka_purge(producer_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
      rd_kafka_flush(producer_.get(), kFlushMs);
      return Failed(flushed);
    }
    return failure_ == RD_KAFKA_RESP_ERR_NO_ERROR ? Status::Ok() : Failed(failure_);
  }

 private:
  Status Failed(rd_kafka_resp_err_t error) const {
    return Status::Unavailable("dead letters to " + name_ + ": " + rd_kafka_err2str(error));
  }

  Status Send(const std::string& topic, const DeadLetter& letter) {
    std::vector<rd_kafka_vu_t> fields;
    const auto add = [&](rd_kafka_vtype_t type) -> rd_kafka_vu_t& {
      fields.emplace_back();
      fields.back().vtype = type;
      return fields.back();
    };
    const auto header = [&](const char* name, const std::string& text) {
      auto& to = add(RD_KAFKA_VTYPE_HEADER).u.header;
      to.name = name;
      to.val = text.data();
      to.size = static_cast<ssize_t>(text.size());
    };
    const auto bytes = [&](rd_kafka_vtype_t type, const std::string& text, size_t size) {
      auto& to = add(type).u.mem;
      to.ptr = const_cast<char*>(text.data());  // copied, by VTYPE_MSGFLAGS
      to.size = size;
    };
    const std::string partition = std::to_string(letter.partition);
    const std::string offset = std::to_string(letter.offset);
    add(RD_KAFKA_VTYPE_TOPIC).u.cstr = name_.c_str();
    add(RD_KAFKA_VTYPE_MSGFLAGS).u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
    if (!letter.key.empty()) bytes(RD_KAFKA_VTYPE_KEY, letter.key, letter.key.size());
    bytes(RD_KAFKA_VTYPE_VALUE, letter.payload, std::min(letter.payload.size(), kPayloadBytes));
    header("seendb.topic", topic);
    header("seendb.partition", partition);
    header("seendb.offset", offset);
    header("seendb.reason", letter.reason);
    add(RD_KAFKA_VTYPE_OPAQUE).u.ptr = &failure_;
    rd_kafka_error_t* const error =
        rd_kafka_produceva(producer_.get(), fields.data(), fields.size());
    if (error == nullptr) return Status::Ok();
    const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    return Failed(code);
  }

  const std::string name_;
  rd_kafka_resp_err_t failure_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  const KafkaHandle producer_;
};

}  // namespace

Result<std::unique_ptr<DeadLetters>> DeadLetters::New(const ops::KafkaConfig& config) {
  if (!config.dead_letter_file.empty()) {
    const int file =
        open(config.dead_letter_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) {
      return Status::IOError("open " + config.dead_letter_file + ": " +
                             std::generic_category().message(errno));
    }
    return std::unique_ptr<DeadLetters>(std::make_unique<ToFile>(config.dead_letter_file, file));
  }
  if (config.dead_letter_topic.empty()) {
    return std::unique_ptr<DeadLetters>(std::make_unique<ToLog>());
  }
  Result<KafkaConf> conf = ProducerConf(config);
  if (!conf.ok()) return conf.status();
  rd_kafka_conf_set_dr_msg_cb(conf->get(), ToTopic::Delivered);
  Result<KafkaHandle> producer = NewKafka(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!producer.ok()) return producer.status();
  return std::unique_ptr<DeadLetters>(
      std::make_unique<ToTopic>(config.dead_letter_topic, std::move(producer).value()));
}

}  // namespace seendb::ingest
