// A user's history cleared, and, where that is asked for, what the filters know.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine_impl.h"
#include "history_reader.h"
#include "store/status.h"

namespace seendb {
namespace {

// Rows deleted at a time, alone in the gate.
constexpr size_t kRowsAtOnce = 1'000;

}  // namespace

// First the synced word that nothing up to a time counts; then the rows go.
Status EngineImpl::ClearHistory(IdRef user, const HistoryClear& clear) {
  const Status writable = CheckWritable();
  if (!writable.ok()) return writable;
  const Status valid = CheckUser(user);
  if (!valid.ok()) return valid;
  const Result<std::vector<Collection>> wanted =
      HistoryCollections(clear.collections, clear.filter ? Without::kTaken : Without::kAmongAll);
  if (!wanted.ok()) return wanted.status();
  if (wanted->empty()) return {};
  const std::string name = user.ToString();
  Shard& shard = shards_[ShardOf(user)];
  const Gate::Scope inside(*shard.use);
  const Result<UserRecord> record =
      clear.filter ? ForgetAndClear(shard, *wanted, name) : MarkCleared(shard, *wanted, name);
  if (!record.ok()) return record.status();
  counters_.history_cleared.fetch_add(record->marks.size(), std::memory_order_relaxed);
  for (const auto& [collection, marks] : record->marks) {
    const Status gone = DeleteHistoryRows(shard, collection, name, marks.cleared_at_ms);
    if (!gone.ok()) return gone;
  }
  return {};
}

// The marks of a clear: what it covers. Precondition: inside the gate of the shard's ring.
UserRecord EngineImpl::ClearMarks(Shard& shard, const std::vector<Collection>& wanted,
                                  const std::string& user, int64_t now_ms) {
  UserRecord record;
  for (const Collection& of : wanted) {
    Lacks lacks;
    HistoryReader reader(shard, of, user, now_ms, &lacks);
    const int64_t newest_ms = reader.NewestMs(now_ms + of.policy.max_future_ms);
    record.marks[of.name].cleared_at_ms = std::max(now_ms, newest_ms);
  }
  return record;
}

Result<UserRecord> EngineImpl::MarkCleared(Shard& shard, const std::vector<Collection>& wanted,
                                           const std::string& user) {
  const Gate::Scope in_ring(shard.ring->gate());
  UserRecord record = ClearMarks(shard, wanted, user, clock_->NowMs());
  const Status cleared = shard.ring->ChangeSettings(
      in_ring, user, [&](const UserRecord*) { return std::optional<UserRecord>(record); });
  if (!cleared.ok()) return cleared;
  return record;
}

// As an erasure, alone: no play is between its journal and the slot, no drain half way.
Result<UserRecord> EngineImpl::ForgetAndClear(Shard& shard, const std::vector<Collection>& wanted,
                                              const std::string& user) {
  const Gate::Exclusive alone(shard.ring->gate());
  const int64_t now = clock_->NowMs();
  UserRecord record = ClearMarks(shard, wanted, user, now);
  const Status forgotten = shard.ring->Forget(alone, user, now, &record);
  if (!forgotten.ok()) return forgotten;
  return record;
}

// Deletes what does not count any more, a piece at a time: alone in the gate, so that no drain
// merges a newer state between the look and the deletion. Precondition: inside the shard, outside
// its ring's gate.
Status EngineImpl::DeleteHistoryRows(Shard& shard, const std::string& collection,
                                     const std::string& user, int64_t up_to_ms) {
  std::vector<int64_t> buckets;
  {
    const std::shared_ptr<const FamilySet> families = shard.store->families();
    const CollectionFamilies* family = families->Find(collection);
    if (family == nullptr) return Status::Unavailable("the shard is being closed");
    for (const auto& [index, bucket] : family->history) {
      if (bucket->begin_ms <= up_to_ms) buckets.push_back(index);
    }
  }
  // The oldest first: who reads meanwhile meets no older state of what is gone.
  std::reverse(buckets.begin(), buckets.end());
  for (const int64_t index : buckets) {
    for (const bool timeline : {true, false}) {
      std::string from = timeline ? TimelineKey(user, up_to_ms, {}) : HistoryPrefix(user);
      while (!from.empty()) {
        const Status status =
            DeleteSomeRows(shard, collection, index, timeline, user, up_to_ms, &from);
        if (!status.ok()) return status;
      }
    }
  }
  return {};
}

// Goes on from `*from`, which is empty at the end.
Status EngineImpl::DeleteSomeRows(Shard& shard, const std::string& collection, int64_t index,
                                  bool timeline, const std::string& user, int64_t up_to_ms,
                                  std::string* from) {
  const Gate::Exclusive alone(shard.ring->gate());
  const Status writable = shard.store->CheckWritable();
  if (!writable.ok()) return writable;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* family = families->Find(collection);
  const auto bucket =
      family == nullptr ? decltype(family->history)::const_iterator() : family->history.find(index);
  const std::string first = std::exchange(*from, {});
  if (family == nullptr || bucket == family->history.end()) return {};  // dropped since
  rocksdb::ColumnFamilyHandle* const handle =
      (timeline ? bucket->second->timeline : bucket->second->states)->get();
  const std::string end = HistoryPrefixEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(shard.store->db()->NewIterator(options, handle));
  rocksdb::WriteBatch batch;
  size_t looked_at = 0;
  for (it->Seek(first); it->Valid() && looked_at < kRowsAtOnce; it->Next(), ++looked_at) {
    HistoryValue value;
    const bool readable = timeline || value.Parse(it->value().ToStringView());
    const int64_t newest_ms = !readable  ? bucket->second->end_ms - 1
                              : timeline ? up_to_ms
                                         : value.state.at_ms;
    if (newest_ms > up_to_ms) continue;
    const rocksdb::Status status = batch.Delete(handle, it->key());
    if (!status.ok()) return FromRocks(status, "delete history");
  }
  if (it->Valid()) *from = it->key().ToString();
  if (!it->status().ok()) return FromRocks(it->status(), "delete history");
  if (batch.Count() == 0) return {};
  rocksdb::WriteOptions writes;
  writes.ignore_missing_column_families = true;
  return FromRocks(shard.store->db()->Write(writes, &batch), "delete history");
}

}  // namespace seendb
