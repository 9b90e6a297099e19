#include "shard/traces.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/durations.h"
#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "shard/erase.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// Of more users than this every table is compacted that has deletions, or lies below one.
constexpr size_t kUsersMost = 100'000;

// Nothing where nothing was purged yet, or the note is damaged: then all is purged.
Status ReadNote(const ShardStore& store, std::optional<PurgeNote>* note) {
  std::string text;
  const rocksdb::Status got = store.db()->Get({}, store.meta(), kPurgedKey, &text);
  if (got.ok()) *note = PurgeNote::FromJson(text);
  return got.IsNotFound() ? Status() : FromRocks(got, "read what was purged");
}

bool NothingErased(const ShardParts& shard) {
  return shard.traces.purged.load() == shard.traces.erasures.load();
}

// Whether rows of an erasure are still being deleted.
bool AnyUnfinished(const ShardStore& store) {
  const std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator({}, store.meta()));
  it->Seek(kErasingPrefix);
  return !it->status().ok() || (it->Valid() && it->key().starts_with(kErasingPrefix));
}

// Whose erasures are newer than the sequence; at most one more than kUsersMost.
Status ErasedSince(const ShardParts& shard, uint64_t sequence, std::vector<std::string>* users) {
  return shard.users.ForEach({}, [&](std::string_view user, const UserRecord& record) {
    if (record.erased_seq > sequence) users->emplace_back(user);
    return users->size() <= kUsersMost;
  });
}

}  // namespace

Result<uint64_t> PurgedSequence(const ShardStore& store) {
  std::optional<PurgeNote> last;
  RETURN_IF_FAILED(ReadNote(store, &last));
  return last ? last->sequence : 0;
}

Status PurgeTraces(ShardParts& shard) {
  shard.use.AssertHeldShared();
  const uint64_t erasures = shard.traces.erasures.load();
  if (NothingErased(shard)) return {};
  if (!shard.store->CheckWritable().ok()) return {};  // it is opened anew first
  if (!ResumeErasures(shard).ok()) return {};         // maintenance tries again, and reports it
  PurgeNote note;
  {
    // An erasure takes its sequence and writes holding this lock alone: none is in between.
    const SharedLock::Shared apply(shard.apply_lock);
    note = {shard.NextSequence(), shard.clock->NowMs()};
  }
  if (AnyUnfinished(*shard.store)) return {};
  std::optional<PurgeNote> last;
  Status status = ReadNote(*shard.store, &last);
  std::vector<std::string> users;
  if (status.ok()) status = ErasedSince(shard, last ? last->sequence : 0, &users);
  if (status.ok() && !users.empty()) status = shard.store->tables().FlushAll();
  if (status.ok()) {
    status = shard.store->tables().RemoveDeleted(users.size() <= kUsersMost ? &users : nullptr);
  }
  SEENDB_PAUSE_POINT("purge: removed");
  if (status.ok() && !users.empty()) {
    status = FromRocks(
        shard.store->db()->Put(NotSynced(), shard.store->meta(), kPurgedKey, note.ToJson()),
        "note what was purged");
  }
  if (status.ok()) shard.traces.purged = erasures;
  return status;
}

Status PurgeTracesIfDue(ShardParts& shard, int64_t now_ms) {
  shard.use.AssertHeldShared();
  if (NothingErased(shard) || !shard.store->CheckWritable().ok()) return {};
  std::optional<PurgeNote> last;
  RETURN_IF_FAILED(ReadNote(*shard.store, &last));
  const int64_t rest_ms = (int64_t{shard.options.erase_within_days} - 1) * kMsPerDay;
  if (last && now_ms >= last->at_ms && now_ms - last->at_ms < rest_ms) return {};
  return PurgeTraces(shard);
}

}  // namespace seendb
