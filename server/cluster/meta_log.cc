#include "cluster/meta_log.h"

#include <algorithm>
#include <utility>

#include "cluster/deadline.h"
#include "cluster/topic_writer.h"

namespace seendb::cluster {
namespace {

constexpr int kAskMs = 5'000;

}  // namespace

MetaLog::MetaLog(KafkaAccess access, std::unique_ptr<TopicReader> reader, Meta from)
    : access_(std::move(access)),
      reader_(std::move(reader)),
      topic_(reader_->topic()),
      meta_(std::move(from)) {}
MetaLog::~MetaLog() = default;

Result<std::unique_ptr<MetaLog>> MetaLog::Open(const KafkaAccess& access,
                                               const std::string& cluster, Meta from) {
  if (Status named = CheckClusterName(cluster); !named.ok()) return named;
  auto reader =
      TopicReader::Open(access, MetaTopicOf(cluster), "seendb-cluster", TopicReader::Topic::kWhole);
  if (!reader.ok()) return reader.status();
  return std::unique_ptr<MetaLog>(new MetaLog(access, std::move(reader).value(), std::move(from)));
}

void MetaLog::OnRefused(std::function<void(int64_t, const Status&)> refused) {
  refused_ = std::move(refused);
}

// Where the topic begins is looked up first: a record that is gone is never passed over.
Status MetaLog::Start(int timeout_ms) {
  if (reader_->assigned()) return {};
  const auto ends = reader_->AskEnds(timeout_ms);
  if (!ends.ok()) return ends.status();
  if (ends->first > meta_.next_offset()) {
    return Status::Corruption("topic " + topic_ + " begins at offset " +
                              std::to_string(ends->first) + "; the records from " +
                              std::to_string(meta_.next_offset()) + " on are gone");
  }
  if (ends->second < meta_.next_offset()) {
    return Status::Corruption("topic " + topic_ + " ends at offset " +
                              std::to_string(ends->second) + ", before what was read of it (" +
                              std::to_string(meta_.next_offset()) + ")");
  }
  return reader_->Assign(meta_.next_offset());
}

Status MetaLog::Poll(int wait_ms) {
  Status status = Start(std::max(wait_ms, kAskMs));
  for (int left_ms = wait_ms; status.ok(); left_ms = 0) {
    const TopicReader::Message message = reader_->Next(left_ms);
    if (!message) return {};
    status = Take(*message);
  }
  // Where the next call goes on is looked up anew.
  reader_->Forget();
  return status;
}

Status MetaLog::Take(const rd_kafka_message_t& message) {
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) return reader_->FailureOf(message);
  const std::string_view value(static_cast<const char*>(message.payload), message.len);
  Status status = meta_.Apply(message.offset, value);
  if (message.offset == awaited_) verdict_ = status;
  if (status.code() == StatusCode::kIncompatible) {
    return Status::Incompatible("topic " + topic_ + ", offset " + std::to_string(message.offset) +
                                ": " + std::string(status.message()));
  }
  if (!status.ok() && refused_) refused_(message.offset, status);
  return {};
}

Status MetaLog::ReadToEnd(int timeout_ms) {
  const Deadline deadline(timeout_ms);
  if (Status status = Start(timeout_ms); !status.ok()) return status;
  const auto ends = reader_->AskEnds(std::max(1, deadline.LeftMs()));
  if (!ends.ok()) return ends.status();
  while (meta_.next_offset() < ends->second) {
    const int left_ms = deadline.LeftMs();
    if (left_ms == 0) return Status::Unavailable("topic " + topic_ + " was not read in time");
    if (Status status = Poll(left_ms); !status.ok()) return status;
  }
  return {};
}

Status MetaLog::Commit(const MetaRecord& record, int timeout_ms) {
  const Deadline deadline(timeout_ms);
  const std::string value = EncodeMeta(record);
  const NewTopicRecord appended{.value = value};
  const Result<int64_t> offset = AppendInOrder(access_, topic_, {&appended, 1}, timeout_ms);
  if (!offset.ok()) return Status::Unavailable(std::string(offset.status().message()));
  awaited_ = *offset;
  verdict_.reset();
  Status status;
  while (status.ok() && !verdict_) {
    const int left_ms = deadline.LeftMs();
    status = left_ms == 0 ? Status::Unavailable("topic " + topic_ + " was not read in time")
                          : Poll(left_ms);
  }
  awaited_ = -1;
  if (!verdict_) return status;
  if (verdict_->ok()) return {};
  return Status::Incompatible("the change does not count: " + std::string(verdict_->message()));
}

}  // namespace seendb::cluster
