// The keys in a topic of Kafka: partitions by number, each from the place noted to the end it had
// when the import began. No group: the state file says how far it came.

#include <map>
#include <string_view>
#include <utility>

#include "kafka_handle.h"
#include "key_source.h"
#include "report_json.h"

namespace seendb::tool {
namespace {

constexpr int kWaitMs = 1'000;

class TopicSource : public KeySource {
 public:
  TopicSource(TopicFlags flags, std::unique_ptr<KafkaHandle> kafka)
      : flags_(std::move(flags)),
        kafka_(std::move(kafka)),
        topic_(rd_kafka_topic_new(kafka_->get(), flags_.topic.c_str(), nullptr)) {}
  ~TopicSource() override {
    Stop();
    if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
  }

  /// Where each partition begins and ends now.
  Status Look() {
    const rd_kafka_metadata_t* metadata = nullptr;
    const auto error =
        rd_kafka_metadata(kafka_->get(), 0, topic_, &metadata, KafkaHandle::kReachMs);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_->Unreachable(flags_.brokers, error);
    Status status = Status::NotFound("no topic " + flags_.topic);
    for (int t = 0; t < metadata->topic_cnt; ++t) {
      const auto& found = metadata->topics[t];
      if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
      status = {};
      for (int p = 0; p < found.partition_cnt && status.ok(); ++p) {
        Part part;
        const auto asked = rd_kafka_query_watermark_offsets(
            kafka_->get(), flags_.topic.c_str(), p, &part.next, &part.end, KafkaHandle::kReachMs);
        if (asked != RD_KAFKA_RESP_ERR_NO_ERROR) {
          status = kafka_->Unreachable(flags_.brokers, asked);
        }
        total_ += part.end - part.next;
        parts_.emplace(p, part);
      }
    }
    rd_kafka_metadata_destroy(metadata);
    return status;
  }

  Status GoTo(const Json& place) override {
    const Json offsets = place.value("offsets", Json::object());
    for (auto& [number, part] : parts_) {
      const auto found = offsets.find(std::to_string(number));
      if (found == offsets.end()) continue;
      const auto next = found->get<int64_t>();
      if (next < part.next || next > part.end) {
        return Status::Incompatible("--keys-topic: offset " + std::to_string(next) +
                                    " of partition " + std::to_string(number) +
                                    " is not in the topic any more");
      }
      done_ += next - part.next;
      part.next = next;
    }
    return {};
  }

  Result<bool> Next(KeyPage* page) override {
    page->keys.clear();
    for (auto& [number, part] : parts_) {
      if (part.next >= part.end) continue;
      Status status = Read(number, &part, page);
      if (!status.ok()) return status;
      break;
    }
    Json offsets = Json::object();
    bool more = !page->keys.empty();
    for (const auto& [number, part] : parts_) {
      offsets[std::to_string(number)] = part.next;
      more = more || part.next < part.end;
    }
    page->after = {{"offsets", std::move(offsets)}};
    page->fraction = total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
    return more;
  }

 private:
  struct Part {
    int64_t next = 0, end = 0;
  };

  void Stop() {
    if (reading_ >= 0) rd_kafka_consume_stop(topic_, std::exchange(reading_, -1));
  }

  Status Read(int32_t number, Part* part, KeyPage* page) {
    if (reading_ != number) {
      Stop();
      if (rd_kafka_consume_start(topic_, number, part->next) != 0) {
        return Status::Unavailable(rd_kafka_err2str(rd_kafka_last_error()));
      }
      reading_ = number;
    }
    while (page->keys.size() < kKeysOfPage && part->next < part->end) {
      rd_kafka_message_t* const message = rd_kafka_consume(topic_, number, kWaitMs);
      if (message == nullptr) break;
      Status status = Take(*message, part, page);
      rd_kafka_message_destroy(message);
      if (!status.ok()) {
        Stop();
        return status;
      }
    }
    return {};
  }

  Status Take(const rd_kafka_message_t& message, Part* part, KeyPage* page) {
    if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      done_ += part->end - part->next;  // what is left are marks of transactions
      part->next = part->end;
      return {};
    }
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return Status::Unavailable("Kafka: " + std::string(rd_kafka_err2str(message.err)));
    }
    done_ += message.offset + 1 - part->next;
    part->next = message.offset + 1;
    const std::string_view value(static_cast<const char*>(message.payload), message.len);
    const std::string_view key(static_cast<const char*>(message.key), message.key_len);
    if (!value.empty() || !key.empty()) page->keys.emplace_back(value.empty() ? key : value);
    return {};
  }

  const TopicFlags flags_;
  const std::unique_ptr<KafkaHandle> kafka_;
  rd_kafka_topic_t* const topic_;
  std::map<int32_t, Part> parts_;
  int64_t total_ = 0, done_ = 0;
  int32_t reading_ = -1;
};

}  // namespace

Result<std::unique_ptr<KeySource>> TopicKeys(const TopicFlags& flags) {
  auto kafka = KafkaHandle::Open(RD_KAFKA_CONSUMER,
                                 {{"bootstrap.servers", flags.brokers},
                                  {"enable.partition.eof", "true"},
                                  {"auto.offset.reset", "error"}},
                                 flags.properties);
  if (!kafka.ok()) return kafka.status();
  auto source = std::make_unique<TopicSource>(flags, std::move(kafka).value());
  Status looked = source->Look();
  if (!looked.ok()) return looked;
  return std::unique_ptr<KeySource>(std::move(source));
}

}  // namespace seendb::tool
