#include "shard/outbox.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "base/return_if_failed.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// Rows deleted or rewritten in one write.
constexpr size_t kPiece = 1'000;

// Runs `visit(key, value)` for the rows from `from` on whose keys begin with `prefix`, until it
// returns false.
template <typename Visit>
Status ForEachRow(const ShardStore& store, const std::string& prefix, const std::string& from,
                  const Visit& visit) {
  const std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator({}, store.meta()));
  for (it->Seek(from); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    if (!visit(it->key().ToStringView(), it->value().ToStringView())) return {};
  }
  return FromRocks(it->status(), "read the outbox");
}

// Gives `work` all of the keys, a piece at a time.
template <typename Work>
Status InPieces(const std::vector<std::string>& keys, const Work& work) {
  const std::span<const std::string> all = keys;
  Status status;
  for (size_t at = 0; status.ok() && at < all.size(); at += kPiece) {
    status = work(all.subspan(at, std::min(kPiece, all.size() - at)));
  }
  return status;
}

}  // namespace

Status Outbox::Load() {
  std::map<Sources::Key, Source> counted;
  uint64_t rows = 0;
  const Status read =
      ForEachRow(*store_, kOutboxPrefix, kOutboxPrefix, [&](std::string_view key, auto) {
        const std::optional<OutboxPlace> place = ParseOutboxKey(key);
        if (!place) return true;
        Source& source = counted[{place->topic, place->partition}];
        ++source.rows;
        source.last_counted = std::max(source.last_counted, place->offset);
        ++rows;
        return true;
      });
  if (!read.ok()) return read;
  const MutexLock lock(mutex_);
  sources_ = std::move(counted);
  rows_ = rows;
  return {};
}

void Outbox::AddSources(std::vector<OutboxSource>* sources) const {
  if (rows() == 0) return;
  const MutexLock lock(mutex_);
  for (const auto& [key, source] : sources_) {
    if (source.rows == 0) continue;
    sources->push_back({store_->shard(), key.first, key.second, source.rows});
  }
}

bool Outbox::MayMeet(const IngestBatch& batch) const {
  const MutexLock lock(mutex_);
  if (sources_.empty()) return false;
  std::vector<int64_t> last_counted(batch.sources.size(), -1);
  for (size_t i = 0; i < batch.sources.size(); ++i) {
    const auto known =
        sources_.find(Sources::Key(batch.sources[i].topic, batch.sources[i].partition));
    if (known != sources_.end()) last_counted[i] = known->second.last_counted;
  }
  return std::any_of(batch.origins.begin(), batch.origins.end(), [&](const Origin& origin) {
    return origin.offset <= last_counted[origin.source];
  });
}

Status Outbox::AddTo(rocksdb::WriteBatch* batch, const IngestBatch& log, const OutboxValue& stamp,
                     const FirstPlays& firsts, bool meets, Added* added) {
  std::map<std::pair<uint32_t, int64_t>, OutboxValue> rows;  // by source and offset
  firsts.ForEachTaken([&](uint32_t index, FirstOfDay first) {
    const Origin& origin = log.origins[index];
    OutboxValue& row = rows.try_emplace({origin.source, origin.offset}, stamp).first->second;
    row.first_plays.push_back(std::move(first));
  });
  for (auto& [place, row] : rows) {
    const SourceStep& source = log.sources[place.first];
    const std::string key = OutboxKey(source.topic, source.partition, place.second);
    bool found = false;
    OutboxValue earlier;
    RETURN_IF_FAILED(meets ? Find(key, &found, &earlier) : Status());
    if (found) row.Join(earlier);
    if (!found) ++(*added)[{std::string(source.topic), source.partition}];
    const rocksdb::Status put = batch->Put(store_->meta(), key, row.ToJson());
    if (!put.ok()) return FromRocks(put, "write the outbox");
  }
  return {};
}

void Outbox::Commit(const Added& added) {
  if (added.empty()) return;
  const MutexLock lock(mutex_);
  for (const auto& [key, rows] : added) {
    sources_[key].rows += rows;
    rows_ += rows;
  }
}

Status Outbox::Read(const OutboxSource& source, int64_t after, size_t limit,
                    const UserLookup& users, std::vector<OutboxRow>* rows) const {
  size_t read = 0;
  const auto take = [&](std::string_view key, std::string_view value) {
    const std::optional<OutboxPlace> place = ParseOutboxKey(key);
    if (!place || place->offset <= after) return true;
    OutboxRow row{store_->shard(), place->topic, place->partition, place->offset};
    if (std::optional<OutboxValue> parsed = OutboxValue::FromJson(value)) {
      row.at_ms = parsed->at_ms;
      row.first_plays = std::move(parsed->first_plays);
      std::erase_if(row.first_plays, [&](const FirstOfDay& one) {
        const std::shared_ptr<const UserRecord> record = users.Find(one.user);
        return record != nullptr && parsed->seq < record->erased_seq;
      });
    }
    read += std::max<size_t>(row.first_plays.size(), 1);
    rows->push_back(std::move(row));
    return read < limit;
  };
  return ForEachRow(*store_, OutboxSourcePrefix(source.topic, source.partition),
                    OutboxKey(source.topic, source.partition, std::max<int64_t>(after, 0)), take);
}

Status Outbox::Find(const std::string& key, bool* found, OutboxValue* value) const {
  rocksdb::PinnableSlice read;
  const rocksdb::Status status = store_->db()->Get({}, store_->meta(), key, &read);
  *found = status.ok();
  if (status.IsNotFound()) return {};
  if (!status.ok()) return FromRocks(status, "read the outbox");
  if (std::optional<OutboxValue> parsed = OutboxValue::FromJson(read.ToStringView())) {
    *value = *std::move(parsed);
  }
  return {};
}

Status Outbox::WriteDeletions(rocksdb::WriteBatch* batch, const Added& deleted) {
  if (batch->Count() == 0) return {};
  const Status written =
      FromRocks(store_->db()->Write(NotSynced(), batch), "delete rows of the outbox");
  if (!written.ok()) return written;
  const MutexLock lock(mutex_);
  for (const auto& [key, rows] : deleted) {
    assert(sources_[key].rows >= rows);
    sources_[key].rows -= rows;
    rows_ -= rows;
  }
  return {};
}

Status Outbox::DeleteKeys(std::span<const std::string> keys) {
  rocksdb::WriteBatch batch;
  Added deleted;
  for (const std::string& key : keys) {
    bool found = false;
    OutboxValue value;
    RETURN_IF_FAILED(Find(key, &found, &value));
    const std::optional<OutboxPlace> place = ParseOutboxKey(key);
    if (!found || !place) continue;
    const rocksdb::Status gone = batch.Delete(store_->meta(), key);
    if (!gone.ok()) return FromRocks(gone, "delete rows of the outbox");
    ++deleted[{place->topic, place->partition}];
  }
  return WriteDeletions(&batch, deleted);
}

Status Outbox::Delete(std::span<const OutboxRow> told) {
  std::vector<std::string> keys;
  keys.reserve(told.size());
  for (const OutboxRow& row : told) {
    keys.push_back(OutboxKey(row.topic, row.partition, row.offset));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return InPieces(keys, [&](std::span<const std::string> piece) {
    const MutexLock lock(changes_);
    return DeleteKeys(piece);
  });
}

Status Outbox::EraseFrom(std::span<const std::string> keys, std::string_view user, uint64_t seq) {
  const MutexLock lock(changes_);
  rocksdb::WriteBatch batch;
  Added deleted;
  for (const std::string& key : keys) {
    bool found = false;
    OutboxValue row;
    RETURN_IF_FAILED(Find(key, &found, &row));
    if (!found || row.seq >= seq || !row.Remove(user)) continue;
    const bool empty = row.first_plays.empty();
    const rocksdb::Status written =
        empty ? batch.Delete(store_->meta(), key) : batch.Put(store_->meta(), key, row.ToJson());
    if (!written.ok()) return FromRocks(written, "erase from the outbox");
    const std::optional<OutboxPlace> place = ParseOutboxKey(key);
    if (empty && place) ++deleted[{place->topic, place->partition}];
  }
  return WriteDeletions(&batch, deleted);
}

Status Outbox::Erase(std::string_view user, uint64_t seq) {
  if (rows() == 0) return {};
  std::vector<std::string> keys;
  const Status read = ForEachRow(*store_, kOutboxPrefix, kOutboxPrefix,
                                 [&](std::string_view key, std::string_view value) {
                                   std::optional<OutboxValue> row = OutboxValue::FromJson(value);
                                   if (row && row->seq < seq && row->Remove(user)) {
                                     keys.emplace_back(key);
                                   }
                                   return true;
                                 });
  if (!read.ok()) return read;
  return InPieces(keys,
                  [&](std::span<const std::string> piece) { return EraseFrom(piece, user, seq); });
}

Status Outbox::Forget(std::string_view topic) {
  std::vector<std::string> keys;
  const std::string prefix = OutboxTopicPrefix(topic);
  const Status read = ForEachRow(*store_, prefix, prefix, [&](std::string_view key, auto) {
    keys.emplace_back(key);
    return true;
  });
  if (!read.ok()) return read;
  const Status gone = InPieces(keys, [&](std::span<const std::string> piece) {
    const MutexLock lock(changes_);
    return DeleteKeys(piece);
  });
  if (!gone.ok()) return gone;
  const MutexLock lock(mutex_);
  std::erase_if(sources_,
                [&](const auto& one) { return one.first.first == topic && one.second.rows == 0; });
  return {};
}

}  // namespace seendb
