#include "ingest/dead_letters.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/utf8.h"
#include "ingest/topic_writer.h"
#include "ops/log.h"
#include "text/base64.h"

namespace seendb::ingest {
namespace {

constexpr size_t kPayloadBytes = 900'000;

nlohmann::ordered_json Facts(const std::string& topic, const DeadLetter& letter) {
  return {{"topic", topic},
          {"partition", letter.partition},
          {"offset", letter.offset},
          {"reason", letter.reason}};
}

/// As text, and where that is not all of it the bytes too.
void Put(const std::string& name, const std::string& bytes, nlohmann::ordered_json* line) {
  (*line)[name] = bytes;
  if (!IsUtf8(bytes)) (*line)[name + "_base64"] = text::Base64Of(bytes);
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
      Put("key", letter.key, &line);
      Put("payload", letter.payload, &line);
      for (const auto& [name, value] : letter.headers) {
        nlohmann::ordered_json header;
        Put("name", name, &header);
        Put("value", value, &header);
        line["headers"].push_back(std::move(header));
      }
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
  ToTopic(std::string name, std::unique_ptr<TopicWriter> writer)
      : name_(std::move(name)), writer_(std::move(writer)) {}

  Status Write(const std::string& topic, const std::vector<DeadLetter>& letters) override {
    std::vector<OutMessage> messages;
    messages.reserve(letters.size());
    for (const DeadLetter& letter : letters) {
      OutMessage message{letter.key, letter.payload.substr(0, kPayloadBytes), {}};
      for (const auto& [name, value] : letter.headers) {
        message.headers.emplace_back(name.c_str(), value);
      }
      // The last of a name counts, where a dead letter is one again.
      message.headers.insert(message.headers.end(),
                             {{"seendb.topic", topic},
                              {"seendb.partition", std::to_string(letter.partition)},
                              {"seendb.offset", std::to_string(letter.offset)},
                              {"seendb.reason", letter.reason}});
      messages.push_back(std::move(message));
    }
    return writer_->Write(name_, messages);
  }

 private:
  const std::string name_;
  const std::unique_ptr<TopicWriter> writer_;
};

}  // namespace

Result<std::unique_ptr<DeadLetters>> DeadLetters::New(const ops::KafkaConfig& config) {
  if (!config.dead_letter_file.empty()) {
    const int file = open(config.dead_letter_file.c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (file < 0) {
      return Status::IOError("open " + config.dead_letter_file + ": " +
                             std::generic_category().message(errno));
    }
    return std::unique_ptr<DeadLetters>(std::make_unique<ToFile>(config.dead_letter_file, file));
  }
  if (config.dead_letter_topic.empty()) {
    return std::unique_ptr<DeadLetters>(std::make_unique<ToLog>());
  }
  Result<std::unique_ptr<TopicWriter>> writer = TopicWriter::New(config);
  if (!writer.ok()) return writer.status();
  return std::unique_ptr<DeadLetters>(
      std::make_unique<ToTopic>(config.dead_letter_topic, std::move(writer).value()));
}

}  // namespace seendb::ingest
