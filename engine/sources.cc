// What the shards know of logs: how far each was read, and first plays in the outbox.

#include <algorithm>
#include <map>

#include "base/return_if_failed.h"
#include "engine_impl.h"

namespace seendb {

std::vector<SourceInfo> EngineImpl::Sources() {
  std::vector<SourceInfo> infos;
  if (!CheckOpen().ok()) return infos;
  KnownSources all;
  const std::vector<std::shared_ptr<Shard>> attached = shards_.Attached();
  for (const std::shared_ptr<Shard>& shard : attached) shard->log().AddSources(&all);
  for (auto& [key, known] : all) {
    known.info.topic = key.first;
    known.info.partition = key.second;
    if (known.shards < attached.size()) {
      known.info.next_offset.reset();
      known.info.last.reset();
    }
    infos.push_back(std::move(known.info));
  }
  return infos;
}

Status EngineImpl::ForgetTopic(std::string_view topic) {
  RETURN_IF_FAILED(CheckWritable());
  const auto named = [&](const SourceInfo& info) { return info.topic == topic; };
  const std::shared_ptr<const ShardSet> all = shards_.All();
  RETURN_IF_FAILED(options_.as_found ? Status() : CheckNoneAbsent(*all));
  const std::vector<SourceInfo> known = Sources();
  if (std::none_of(known.begin(), known.end(), named)) {
    return Status::NotFound("no offsets of topic \"" + std::string(topic) + "\"", "/topic");
  }
  const std::vector<std::shared_ptr<Shard>> attached = shards_.Attached();
  for (const std::shared_ptr<Shard>& shard : attached) {
    RETURN_IF_FAILED(shard->CheckWritable());
  }
  for (const std::shared_ptr<Shard>& shard : *all) {
    if (shard == nullptr) continue;
    RETURN_IF_FAILED(shard->log().ForgetTopic(topic));
  }
  return {};
}

std::vector<OutboxSource> EngineImpl::OutboxSources() {
  std::vector<OutboxSource> sources;
  if (!CheckOpen().ok()) return sources;
  for (const std::shared_ptr<Shard>& shard : shards_.Attached())
    shard->log().AddOutboxSources(&sources);
  return sources;
}

Status EngineImpl::ReadOutbox(const OutboxSource& source, int64_t after, size_t limit,
                              std::vector<OutboxRow>* rows) {
  rows->clear();
  RETURN_IF_FAILED(CheckOpen());
  if (source.shard >= shard_count_) return Status::InvalidArgument("no such shard", "/shard");
  const std::shared_ptr<Shard> shard = (*shards_.All())[source.shard];
  return shard == nullptr ? AbsentShard(source.shard)
                          : shard->log().ReadOutbox(source, after, limit, rows);
}

Status EngineImpl::DeleteOutbox(std::span<const OutboxRow> told) {
  RETURN_IF_FAILED(CheckWritable());
  const std::shared_ptr<const ShardSet> shards = shards_.All();
  std::map<uint32_t, std::vector<OutboxRow>> by_shard;
  for (size_t i = 0; i < told.size(); ++i) {
    if (told[i].shard >= shards->size() || told[i].offset < 0) {
      return Status::InvalidArgument("no such row", "/" + std::to_string(i));
    }
    const OutboxRow& row = told[i];
    by_shard[row.shard].push_back({row.shard, row.topic, row.partition, row.offset});
  }
  Status first;
  for (const auto& [number, rows] : by_shard) {
    Shard* const shard = (*shards)[number].get();
    Status deleted = shard == nullptr ? AbsentShard(number) : shard->log().DeleteOutbox(rows);
    if (first.ok()) first = std::move(deleted);
  }
  return first;
}

}  // namespace seendb
