#include "kafka/handle.h"

#include <algorithm>

namespace seendb::kafka {
namespace {

constexpr size_t kErrorBytes = 512;

Status Unavailable(rd_kafka_resp_err_t error) {
  return Status::Unavailable(rd_kafka_err2str(error));
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
  const KafkaOwned<rd_kafka_topic_t> asked(rd_kafka_topic_new(handle, topic.c_str(), nullptr));
  if (!asked) return Unavailable(rd_kafka_last_error());
  const rd_kafka_metadata_t* answer = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(handle, 0, asked.get(), &answer, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Unavailable(error);
  const KafkaOwned<const rd_kafka_metadata_t> owned(answer);
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

}  // namespace seendb::kafka
