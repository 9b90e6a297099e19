#include "ingest/kafka.h"

#include "ops/log.h"

namespace seendb::ingest {
namespace {

constexpr int kSyslogWarning = 4;

Status Set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  const Status set = kafka::SetProperty(conf, name, value);
  return set.ok() ? set : set.WithFieldPrefix("/kafka/properties");
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

Status CheckNotCompacted(rd_kafka_t* handle, const std::string& topic, int timeout_ms) {
  const Result<std::string> policy =
      kafka::TopicSetting(handle, topic, "cleanup.policy", timeout_ms);
  if (!policy.ok() || policy->find("compact") == std::string::npos) return {};
  return Status::Incompatible("topic " + topic + " has cleanup.policy=" + *policy +
                              ", which keeps only the newest update of each item, and an update "
                              "may say a part of it: make it delete");
}

Result<KafkaHandle> NewKafka(rd_kafka_type_t type, KafkaConf conf) {
  Result<KafkaHandle> handle = kafka::NewHandle(type, std::move(conf));
  if (!handle.ok()) return handle.status().WithFieldPrefix("/kafka/properties");
  return handle;
}

}  // namespace seendb::ingest
