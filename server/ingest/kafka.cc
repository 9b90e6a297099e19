#include "ingest/kafka.h"

#include <algorithm>

#include "ops/log.h"

namespace seendb::ingest {
namespace {

constexpr size_t kErrorBytes = 512;
constexpr int kSyslogWarning = 4;

Status Unavailable(rd_kafka_resp_err_t error) {
  return Status::Unavailable(rd_kafka_err2str(error));
}

Status Set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char text[kErrorBytes] = "";
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof(text)) ==
      RD_KAFKA_CONF_OK) {
    return Status::Ok();
  }
  return Status::InvalidArgument(text, "/kafka/properties/" + name);
}

void LogLine(const rd_kafka_t*, int level, const char* facility, const char* text) {
  ops::Log(level <= kSyslogWarning ? ops::LogLevel::kWarn : ops::LogLevel::kDebug, "kafka",
           {{"facility", facility}, {"text", text}});
}

/// `ours` first, so that "properties" may tune it.
Result<KafkaConf> MakeConf(const ops::KafkaConfig& config,
                           const std::vector<std::pair<std::string, std::string>>& ours) {
  KafkaConf conf(rd_kafka_conf_new());
  rd_kafka_conf_set_log_cb(conf.get(), LogLine);
  Status status = Set(conf.get(), "bootstrap.servers", config.brokers);
  for (const auto& [name, value] : ours) {
    if (status.ok()) status = Set(conf.get(), name, value);
  }
  for (const auto& [name, value] : config.properties) {
    if (status.ok()) status = Set(conf.get(), name, value);
  }
  if (!status.ok()) return status;
  return conf;
}

}  // namespace

Result<KafkaConf> ConsumerConf(const ops::KafkaConfig& config) {
  return MakeConf(config,
                  {{"client.id", "seendb"},
                   {"group.id", config.group},
                   {"enable.auto.commit", "false"},
                   {"enable.auto.offset.store", "false"},
                   {"auto.offset.reset", "error"},
                   {"enable.partition.eof", "true"},
                   {"queued.max.messages.kbytes", std::to_string(config.queued_bytes >> 10)},
                   {"queued.min.messages", "1000000"},
                   // How long an unanswered commit to the group may hold up the end of a session.
                   {"session.timeout.ms", "1000"},
                   {"heartbeat.interval.ms", "300"},
                   {"fetch.wait.max.ms", "100"},
                   {"fetch.error.backoff.ms", "100"},
                   {"reconnect.backoff.max.ms", "1000"},
                   {"log.connection.close", "false"}});
}

Result<KafkaConf> ProducerConf(const ops::KafkaConfig& config) {
  return MakeConf(config, {{"client.id", "seendb-producer"},
                           {"partitioner", "murmur2_random"},  // as Java producers and the shards
                           {"acks", "all"},
                           {"enable.idempotence", "true"},
                           {"message.timeout.ms", "5000"},
                           {"reconnect.backoff.max.ms", "1000"},
                           {"log.connection.close", "false"}});
}

Result<KafkaHandle> NewKafka(rd_kafka_type_t type, KafkaConf conf) {
  char text[kErrorBytes] = "";
  rd_kafka_t* const handle = rd_kafka_new(type, conf.get(), text, sizeof(text));
  if (handle == nullptr) return Status::InvalidArgument(text, "/kafka/properties");
  static_cast<void>(conf.release());  // the handle's now
  return KafkaHandle(handle);
}

Result<std::vector<int32_t>> PartitionsOf(rd_kafka_t* handle, const std::string& topic,
                                          int timeout_ms) {
  const std::unique_ptr<rd_kafka_topic_t, KafkaDeleter> asked(
      rd_kafka_topic_new(handle, topic.c_str(), nullptr));
  if (!asked) return Unavailable(rd_kafka_last_error());
  const rd_kafka_metadata_t* answer = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(handle, 0, asked.get(), &answer, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(error);
  const std::unique_ptr<const rd_kafka_metadata_t, KafkaDeleter> owned(answer);
  std::vector<int32_t> partitions;
  for (int i = 0; i < answer->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& one = answer->topics[i];
    if (one.topic != topic || one.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) continue;
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(one.err);
    for (int at = 0; at < one.partition_cnt; ++at) partitions.push_back(one.partitions[at].id);
  }
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

Result<std::pair<int64_t, int64_t>> Watermarks(rd_kafka_t* handle, const std::string& topic,
                                               int32_t partition, int timeout_ms) {
  int64_t low = 0, high = 0;
  const rd_kafka_resp_err_t error =
      rd_kafka_query_watermark_offsets(handle, topic.c_str(), partition, &low, &high, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(error);
  return std::pair(low, high);
}

Result<int64_t> OffsetAt(rd_kafka_t* handle, const std::string& topic, int32_t partition,
                         int64_t at_ms, int timeout_ms) {
  const KafkaPartitions asked(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_t* const one =
      rd_kafka_topic_partition_list_add(asked.get(), topic.c_str(), partition);
  one->offset = at_ms;
  const rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(handle, asked.get(), timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(error);
  if (one->err != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(one->err);
  return std::max<int64_t>(one->offset, -1);
}

}  // namespace seendb::ingest
