#include "shard/shard_log.h"

#include "base/return_if_failed.h"
#include "shard/apply.h"
#include "shard/entry.h"

namespace seendb {

Status ShardLog::Check(const IngestBatch& batch) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return seendb::CheckLog(parts_, batch);
}

void ShardLog::AddSources(KnownSources* known) {
  const uint32_t shard = parts_.store->shard();
  const auto add = [&](const Sources::Key& key, const SourceRecord* record) {
    KnownSource& one = (*known)[key];
    if (record == nullptr) return;
    std::optional<int64_t>& lowest = one.info.next_offset;
    if (!lowest || record->next_offset < *lowest) {
      lowest = record->next_offset;
      one.info.last = record->last;
    }
    if (key.second == shard) {
      one.info.next_of_shard = record->next_offset;
      one.info.last_of_shard = record->last;
    }
    one.info.held = one.info.held || record->held;
    one.info.counts += record->counts;
    ++one.shards;
  };
  parts_.sources.ForEachReported(add);
}

Status ShardLog::ForgetTopic(std::string_view topic) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  RETURN_IF_FAILED(parts_.store->CheckWritable());
  RETURN_IF_FAILED(parts_.outbox.Forget(topic));
  const MutexLock lock(parts_.sources.mutex());
  return parts_.sources.Forget(parts_.store.get(), topic);
}

void ShardLog::AddOutboxSources(std::vector<OutboxSource>* sources) {
  if (!parts_.healing.running) parts_.outbox.AddSources(sources);
}

Status ShardLog::ReadOutbox(const OutboxSource& source, int64_t after, size_t limit,
                            std::vector<OutboxRow>* rows) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  return parts_.outbox.Read(source, after, limit, parts_.users, rows);
}

Status ShardLog::DeleteOutbox(std::span<const OutboxRow> told) {
  const RequestEntry inside(parts_);
  if (!inside.ok()) return inside.status();
  parts_.use.AssertHeldShared();
  const Status takes = parts_.store->CheckWritable();
  return takes.ok() ? parts_.outbox.Delete(told) : takes;
}

}  // namespace seendb
