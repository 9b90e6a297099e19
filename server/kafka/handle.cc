#include "kafka/handle.h"

#include <algorithm>
#include <chrono>

namespace seendb::kafka {
namespace {

constexpr size_t kErrorBytes = 512;

Status Unavailable(rd_kafka_resp_err_t error) {
  return Status::Unavailable(rd_kafka_err2str(error));
}

/// Calls `take` for each partition of the topic; for none where there is no such topic.
template <typename Take>
Status AskMetadata(rd_kafka_t* handle, const std::string& topic, int timeout_ms, Take take) {
  const KafkaOwned<rd_kafka_topic_t> asked(rd_kafka_topic_new(handle, topic.c_str(), nullptr));
  if (!asked) return Unavailable(rd_kafka_last_error());
  const rd_kafka_metadata_t* answer = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(handle, 0, asked.get(), &answer, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(error);
  const KafkaOwned<const rd_kafka_metadata_t> owned(answer);
  for (int i = 0; i < answer->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& one = answer->topics[i];
    if (one.topic != topic || one.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) continue;
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(one.err);
    for (int at = 0; at < one.partition_cnt; ++at) take(one.partitions[at]);
  }
  return Status::Ok();
}

/// The first offset at or after a time; RD_KAFKA_OFFSET_BEGINNING and _END may stand for one.
Result<int64_t> AskOffset(rd_kafka_t* handle, const std::string& topic, int32_t partition,
                          int64_t at, int timeout_ms) {
  const KafkaPartitions asked(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_t* const one =
      rd_kafka_topic_partition_list_add(asked.get(), topic.c_str(), partition);
  one->offset = at;
  const rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(handle, asked.get(), timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(error);
  if (one->err != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(one->err);
  return one->offset;
}

}  // namespace

Status SetProperty(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char text[kErrorBytes] = "";
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof(text)) ==
      RD_KAFKA_CONF_OK) {
    return Status::Ok();
  }
  return Status::InvalidArgument(text, "/" + name);
}

Result<KafkaHandle> NewHandle(rd_kafka_type_t type, KafkaConf conf) {
  char text[kErrorBytes] = "";
  rd_kafka_t* const handle = rd_kafka_new(type, conf.get(), text, sizeof(text));
  if (handle == nullptr) return Status::InvalidArgument(text);
  static_cast<void>(conf.release());  // the handle's now
  return KafkaHandle(handle);
}

Result<std::vector<int32_t>> PartitionsOf(rd_kafka_t* handle, const std::string& topic,
                                          int timeout_ms) {
  std::vector<int32_t> partitions;
  const Status asked = AskMetadata(handle, topic, timeout_ms,
                                   [&](const auto& one) { partitions.push_back(one.id); });
  if (!asked.ok()) return asked;
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

Result<uint32_t> CopiesOf(rd_kafka_t* handle, const std::string& topic, int timeout_ms) {
  uint32_t copies = 0;
  const Status asked = AskMetadata(handle, topic, timeout_ms, [&](const auto& one) {
    if (one.id == 0) copies = static_cast<uint32_t>(one.replica_cnt);
  });
  if (!asked.ok()) return asked;
  return copies;
}

Result<std::map<int32_t, int32_t>> LeadersOf(rd_kafka_t* handle, const std::string& topic,
                                             int timeout_ms) {
  std::map<int32_t, int32_t> leaders;
  const Status asked = AskMetadata(handle, topic, timeout_ms, [&](const auto& one) {
    if (one.leader >= 0) leaders[one.id] = one.leader;
  });
  if (!asked.ok()) return asked;
  return leaders;
}

Result<std::map<int32_t, int64_t>> EndsOf(rd_kafka_t* handle, const std::string& topic,
                                          const std::vector<int32_t>& partitions, int timeout_ms) {
  const KafkaPartitions asked(
      rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const int32_t partition : partitions) {
    // In place of a time, to the broker it is the end.
    rd_kafka_topic_partition_list_add(asked.get(), topic.c_str(), partition)->offset =
        RD_KAFKA_OFFSET_END;
  }
  const rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(handle, asked.get(), timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(error);
  std::map<int32_t, int64_t> ends;
  for (int i = 0; i < asked->cnt; ++i) {
    const rd_kafka_topic_partition_t& one = asked->elems[i];
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(one.err);
    if (one.offset < 0) return Status::Unavailable("the broker names no end of the log");
    ends[one.partition] = one.offset;
  }
  return ends;
}

// Not by rd_kafka_query_watermark_offsets: up to librdkafka 2.2 it has no end where the broker is
// gone, whatever time it is given. One question can't name a partition twice (KAFKA-1588).
Result<std::pair<int64_t, int64_t>> Watermarks(rd_kafka_t* handle, const std::string& topic,
                                               int32_t partition, int timeout_ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  const Result<int64_t> low =
      AskOffset(handle, topic, partition, RD_KAFKA_OFFSET_BEGINNING, timeout_ms);
  if (!low.ok()) return low.status();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
  const Result<int64_t> high = AskOffset(handle, topic, partition, RD_KAFKA_OFFSET_END,
                                         std::max(1, static_cast<int>(left.count())));
  if (!high.ok()) return high.status();
  if (*low < 0 || *high < 0) return Status::Unavailable("the broker names no ends of the log");
  return std::pair(*low, *high);
}

Result<std::string> TopicSetting(rd_kafka_t* handle, const std::string& topic,
                                 const std::string& name, int timeout_ms) {
  constexpr int kTransferMs = 1'000;
  char text[kErrorBytes] = "";
  const KafkaOwned<rd_kafka_AdminOptions_t> options(
      rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS));
  rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms, text, sizeof(text));
  const KafkaOwned<rd_kafka_ConfigResource_t> asked(
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  rd_kafka_ConfigResource_t* resources[] = {asked.get()};
  const KafkaQueue queue(rd_kafka_queue_new(handle));
  rd_kafka_DescribeConfigs(handle, resources, 1, options.get(), queue.get());
  const KafkaOwned<rd_kafka_event_t> event(
      rd_kafka_queue_poll(queue.get(), timeout_ms + kTransferMs));
  const rd_kafka_DescribeConfigs_result_t* const result =
      event ? rd_kafka_event_DescribeConfigs_result(event.get()) : nullptr;
  const Status unknown = Status::Unavailable("the setting " + name + " of topic " + topic +
                                             " is not told by the brokers");
  if (result == nullptr) return unknown;
  size_t count = 0;
  const rd_kafka_ConfigResource_t** const told =
      rd_kafka_DescribeConfigs_result_resources(result, &count);
  if (count != 1 || rd_kafka_ConfigResource_error(told[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return unknown;
  }
  const rd_kafka_ConfigEntry_t** const entries = rd_kafka_ConfigResource_configs(told[0], &count);
  for (size_t i = 0; i < count; ++i) {
    const char* const value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value != nullptr && rd_kafka_ConfigEntry_name(entries[i]) == name) {
      return std::string(value);
    }
  }
  return unknown;
}

Result<int64_t> OffsetAt(rd_kafka_t* handle, const std::string& topic, int32_t partition,
                         int64_t at_ms, int timeout_ms) {
  const Result<int64_t> offset = AskOffset(handle, topic, partition, at_ms, timeout_ms);
  return offset.ok() ? Result<int64_t>(std::max<int64_t>(*offset, -1)) : offset;
}

}  // namespace seendb::kafka
