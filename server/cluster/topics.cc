#include "cluster/topics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <sstream>
#include <thread>
#include <utility>

#include "base/whole_file.h"
#include "cluster/meta_record.h"

namespace seendb::cluster {
namespace {

using kafka::KafkaConf;
using kafka::KafkaHandle;
using kafka::KafkaOwned;
using kafka::KafkaQueue;

constexpr size_t kErrorBytes = 512;
constexpr size_t kPropertiesBytesMost = 1u << 20;
constexpr int kReachMs = 5'000;
constexpr int kTopicMs = 15'000;
constexpr int kMakeMs = 30'000;
constexpr std::chrono::milliseconds kPause{50};
constexpr size_t kClusterNameBytesMost = 200;

void DropLine(const rd_kafka_t*, int, const char*, const char*) {}

/// Keeps the first thing that librdkafka says of its connections: that one tells why.
void KeepFirst(rd_kafka_t*, int, const char* reason, void* kept) {
  auto* const first = static_cast<std::string*>(kept);
  if (first->empty()) *first = reason;
}

using Settings = std::vector<std::pair<std::string, std::string>>;

/// What the promises rest on is not for others to set: that a record is acknowledged by all copies
/// in sync, and told of; that no offset is passed over.
constexpr std::array<std::string_view, 8> kOwnProperties{"acks",
                                                         "request.required.acks",
                                                         "enable.idempotence",
                                                         "transactional.id",
                                                         "auto.offset.reset",
                                                         "delivery.report.only.error",
                                                         "bootstrap.servers",
                                                         "metadata.broker.list"};

Result<KafkaOwned<rd_kafka_NewTopic_t>> NewTopic(const std::string& name, uint32_t partitions,
                                                 const TopicsPlan& plan, const Settings& settings) {
  char text[kErrorBytes] = "";
  KafkaOwned<rd_kafka_NewTopic_t> topic(
      rd_kafka_NewTopic_new(name.c_str(), static_cast<int>(partitions),
                            static_cast<int>(plan.replication_factor), text, sizeof(text)));
  if (!topic) return Status::InvalidArgument(text);
  for (const auto& [key, value] : settings) {
    rd_kafka_NewTopic_set_config(topic.get(), key.c_str(), value.c_str());
  }
  return topic;
}

/// A record is lost only with all copies that were in sync.
Settings CopySettings(const TopicsPlan& plan) {
  return {{"min.insync.replicas", std::to_string(MinInSync(plan.replication_factor))},
          {"unclean.leader.election.enable", "false"}};
}

/// The newest piece under a key stays, for ever. Kafka compacts whole segments alone.
Result<KafkaOwned<rd_kafka_NewTopic_t>> NewSetsTopic(const std::string& name,
                                                     const TopicsPlan& plan) {
  Settings settings = CopySettings(plan);
  settings.emplace_back("cleanup.policy", "compact");
  settings.emplace_back("segment.bytes", std::to_string(100 << 20));
  return NewTopic(name, 1, plan, settings);
}

/// What became of each topic that was to be made.
Status TakeResults(rd_kafka_event_t* event) {
  const rd_kafka_CreateTopics_result_t* const result = rd_kafka_event_CreateTopics_result(event);
  if (result == nullptr || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return Status::Unavailable(std::string("topics were not made: ") +
                               rd_kafka_event_error_string(event));
  }
  size_t count = 0;
  const rd_kafka_topic_result_t** const topics =
      rd_kafka_CreateTopics_result_topics(result, &count);
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(topics[i]);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
      continue;
    }
    const char* const why = rd_kafka_topic_result_error_string(topics[i]);
    return Status::Unavailable(std::string("topic ") + rd_kafka_topic_result_name(topics[i]) +
                               " was not made: " + (why ? why : rd_kafka_err2str(error)));
  }
  return {};
}

Status CreateTopics(rd_kafka_t* handle, const std::vector<rd_kafka_NewTopic_t*>& topics) {
  char text[kErrorBytes] = "";
  const KafkaOwned<rd_kafka_AdminOptions_t> options(
      rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS));
  for (auto* const set :
       {rd_kafka_AdminOptions_set_operation_timeout, rd_kafka_AdminOptions_set_request_timeout}) {
    if (set(options.get(), kMakeMs, text, sizeof(text)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return Status::InvalidArgument(text);
    }
  }
  const KafkaQueue queue(rd_kafka_queue_new(handle));
  std::vector<rd_kafka_NewTopic_t*> wanted = topics;
  rd_kafka_CreateTopics(handle, wanted.data(), wanted.size(), options.get(), queue.get());
  const KafkaOwned<rd_kafka_event_t> event(rd_kafka_queue_poll(queue.get(), kMakeMs + 5'000));
  if (!event) return Status::Unavailable("topics were not made in time");
  return TakeResults(event.get());
}

Status CheckPartitionCount(rd_kafka_t* handle, const std::string& topic, uint32_t partitions) {
  const auto found = kafka::PartitionsOf(handle, topic, kReachMs);
  if (!found.ok()) return found.status();
  if (found->size() == partitions) return {};
  if (found->empty()) return Status::Unavailable("topic " + topic + " is not there yet");
  return Status::Incompatible("topic " + topic + " has " + std::to_string(found->size()) +
                              " partitions, not " + std::to_string(partitions));
}

/// A topic that was made is known to the brokers, and its partitions have leaders, only some time
/// after the answer.
Status AwaitTopic(rd_kafka_t* handle, const std::string& topic, uint32_t partitions) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kTopicMs);
  for (;;) {
    Status status = CheckPartitionCount(handle, topic, partitions);
    for (uint32_t p = 0; status.ok() && p < partitions; ++p) {
      status = kafka::Watermarks(handle, topic, static_cast<int32_t>(p), kReachMs).status();
    }
    const bool may_come = status.code() == StatusCode::kUnavailable;
    if (!may_come || std::chrono::steady_clock::now() >= until) return status;
    std::this_thread::sleep_for(kPause);
  }
}

/// One that is there already may forget sets. What the brokers do not tell is taken to be right.
Status CheckCompacted(rd_kafka_t* handle, const std::string& topic) {
  const auto policy = kafka::TopicSetting(handle, topic, "cleanup.policy", kReachMs);
  if (!policy.ok() || *policy == "compact") return {};
  return Status::Incompatible("topic " + topic + " has cleanup.policy \"" + *policy +
                              "\", not \"compact\"");
}

/// A handle to ask and to order with.
Result<KafkaHandle> NewAsker(const KafkaAccess& access) {
  Result<KafkaConf> conf = ConfOf(access, {{"client.id", "seendb-cluster"}});
  if (!conf.ok()) return conf.status();
  return kafka::NewHandle(RD_KAFKA_PRODUCER, std::move(conf).value());
}

}  // namespace

Result<KafkaConf> ConfOf(const KafkaAccess& access, const Settings& ours) {
  KafkaConf conf(rd_kafka_conf_new());
  rd_kafka_conf_set_log_cb(conf.get(), access.log != nullptr ? access.log : DropLine);
  Status status = kafka::SetProperty(conf.get(), "bootstrap.servers", access.brokers);
  for (const auto& [name, value] : ours) {
    if (status.ok()) status = kafka::SetProperty(conf.get(), name, value);
  }
  for (const auto& [name, value] : access.properties) {
    if (status.ok() && std::ranges::count(kOwnProperties, name) > 0) {
      status = Status::InvalidArgument(name + " is not for others to set: SeenDB relies on its own",
                                       "/" + name);
    }
    if (status.ok()) status = kafka::SetProperty(conf.get(), name, value);
  }
  if (!status.ok()) return status;
  return conf;
}

Result<KafkaConf> ConsumerConfOf(const KafkaAccess& access, const std::string& name) {
  return ConfOf(access, {{"client.id", name},
                         {"group.id", name},  // joined by nobody
                         {"enable.auto.commit", "false"},
                         {"enable.auto.offset.store", "false"},
                         {"auto.offset.reset", "error"},
                         {"allow.auto.create.topics", "false"},
                         {"fetch.wait.max.ms", "100"},
                         {"fetch.error.backoff.ms", "100"},
                         {"reconnect.backoff.max.ms", "500"},
                         {"log.connection.close", "false"}});
}

Result<std::map<std::string, std::string>> ReadProperties(const std::string& path) {
  std::map<std::string, std::string> properties;
  Result<std::string> text = ReadWholeFile(path, kPropertiesBytesMost);
  if (text.status().code() == StatusCode::kNotFound) {
    return Status::IOError(std::string(text.status().message()));
  }
  if (!text.ok()) return text.status();
  std::istringstream file(std::move(text).value());
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    const size_t equals = line.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status::InvalidArgument(path + ":" + std::to_string(number) + ": write NAME=VALUE");
    }
    properties[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return properties;
}

Status Reach(const KafkaAccess& access) {
  std::string trouble;
  Result<KafkaConf> conf = ConfOf(access, {{"client.id", "seendb-cluster"}});
  if (!conf.ok()) return conf.status();
  rd_kafka_conf_set_opaque(conf->get(), &trouble);
  rd_kafka_conf_set_error_cb(conf->get(), KeepFirst);
  const Result<KafkaHandle> handle = kafka::NewHandle(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!handle.ok()) return handle.status();
  const rd_kafka_metadata_t* answer = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(handle->get(), 0, nullptr, &answer, kReachMs);
  const KafkaOwned<const rd_kafka_metadata_t> owned(answer);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  rd_kafka_poll(handle->get(), 0);  // calls KeepFirst
  return Status::Unavailable("can't reach Kafka at " + access.brokers + ": " +
                             (trouble.empty() ? rd_kafka_err2str(error) : trouble));
}

Result<int64_t> RetentionMsOf(const KafkaAccess& access, const std::string& topic) {
  const Result<KafkaHandle> handle = NewAsker(access);
  if (!handle.ok()) return handle.status();
  const Result<std::string> told =
      kafka::TopicSetting(handle->get(), topic, "retention.ms", kReachMs);
  int64_t retention_ms = 0;
  if (told.ok()) {
    const char* const end = told->data() + told->size();
    if (std::from_chars(told->data(), end, retention_ms).ptr == end) return retention_ms;
  }
  return Status::Unavailable("how long topic " + topic + " is kept is not known");
}

Status CheckClusterName(std::string_view name) {
  const bool sound = CheckNodeName(name).ok() && name.size() <= kClusterNameBytesMost;
  return sound ? Status()
               : Status::InvalidArgument(
                     "a cluster's name has 1 to 200 letters, digits, '.', '-' and '_'", "/name");
}

std::string LogTopicOf(const std::string& cluster) { return cluster + ".log"; }
std::string MetaTopicOf(const std::string& cluster) { return cluster + ".meta"; }
std::string SetsTopicOf(const std::string& cluster) { return cluster + ".sets"; }

uint32_t MinInSync(uint32_t replication_factor) {
  return replication_factor < 3 ? std::max(1u, replication_factor - 1) : replication_factor / 2 + 1;
}

Result<bool> HasTopics(const KafkaAccess& access, const std::string& cluster) {
  const Result<KafkaHandle> handle = NewAsker(access);
  if (!handle.ok()) return handle.status();
  const auto found = kafka::PartitionsOf(handle->get(), MetaTopicOf(cluster), kReachMs);
  if (!found.ok()) return found.status();
  return !found->empty();
}

Status MakeTopics(const KafkaAccess& access, const std::string& cluster, const TopicsPlan& plan) {
  const Settings copies = CopySettings(plan);
  // Events are kept for days.
  Settings log_settings = {{"cleanup.policy", "delete"},
                           {"retention.ms", std::to_string(3LL * 86'400'000)},
                           {"retention.bytes", "-1"},
                           {"message.timestamp.type", "CreateTime"}};
  // Everything is kept, in order: compaction may keep a record that does not count, and drop the
  // one that does.
  Settings meta_settings = {
      {"cleanup.policy", "delete"}, {"retention.ms", "-1"}, {"retention.bytes", "-1"}};
  for (Settings* const settings : {&log_settings, &meta_settings}) {
    settings->insert(settings->end(), copies.begin(), copies.end());
  }
  const std::string log = LogTopicOf(cluster), meta = MetaTopicOf(cluster),
                    sets = SetsTopicOf(cluster);
  auto log_topic = NewTopic(log, plan.partitions, plan, log_settings);
  if (!log_topic.ok()) return log_topic.status();
  auto meta_topic = NewTopic(meta, 1, plan, meta_settings);
  if (!meta_topic.ok()) return meta_topic.status();
  auto sets_topic = NewSetsTopic(sets, plan);
  if (!sets_topic.ok()) return sets_topic.status();
  const Result<KafkaHandle> handle = NewAsker(access);
  if (!handle.ok()) return handle.status();
  Status status =
      CreateTopics(handle->get(), {log_topic->get(), meta_topic->get(), sets_topic->get()});
  if (status.ok()) status = AwaitTopic(handle->get(), log, plan.partitions);
  if (status.ok()) status = AwaitTopic(handle->get(), meta, 1);
  if (status.ok()) status = AwaitTopic(handle->get(), sets, 1);
  return status.ok() ? CheckCompacted(handle->get(), sets) : status;
}

Status MakeNewerTopics(const KafkaAccess& access, const std::string& cluster) {
  const Result<KafkaHandle> handle = NewAsker(access);
  if (!handle.ok()) return handle.status();
  const auto copies = kafka::CopiesOf(handle->get(), MetaTopicOf(cluster), kReachMs);
  if (!copies.ok()) return copies.status();
  const std::string sets = SetsTopicOf(cluster);
  auto topic = NewSetsTopic(sets, {.replication_factor = std::max(1u, *copies)});
  if (!topic.ok()) return topic.status();
  Status status = CreateTopics(handle->get(), {topic->get()});
  if (status.ok()) status = AwaitTopic(handle->get(), sets, 1);
  return status.ok() ? CheckCompacted(handle->get(), sets) : status;
}

}  // namespace seendb::cluster
