#include "shard/erasure.h"

#include <memory>
#include <utility>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "format/day_key.h"
#include "format/history_codec.h"
#include "shard/held.h"
#include "store/own_set_rows.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// Looks at the disk without the apply lock before one is done while holding it alone: others may
// write rows meanwhile, and the cache may lose what a look has read.
constexpr int kLooksBeforeErase = 4;

// Adds to `*batch` the deletion of the user's key in those families of a collection whose kind
// `has` the deletion.
template <typename Has>
rocksdb::Status DeleteUser(const rocksdb::Slice& user, const CollectionFamilies& collection,
                           const Has& has, rocksdb::WriteBatch* batch) {
  rocksdb::Status status;
  collection.ForEachFamily([&](const std::shared_ptr<Family>& family) {
    if (status.ok() && has(family->kind())) status = batch->Delete(family->get(), user);
  });
  return status;
}

bool ErasedByUser(const Table& kind) { return kind.erase == Table::Erase::kDeleteUser; }
bool ClearedWithFilter(const Table& kind) { return kind.clear == Table::Clear::kFilter; }

// A row of history dated after an erasure: by its time alone it would count. So would words of its
// item that lie ahead in a bucket of their own, where no row tells of them.
struct LaterRow {
  std::string collection;
  std::shared_ptr<HistoryBucket> bucket;
  std::string timeline_key, state_key;  // the second is empty where the first can't be read
};

// The timeline has the latest rows first: few are read.
Status FindLaterRows(const ShardStore& store, std::string_view user, int64_t at_ms,
                     std::vector<LaterRow>* rows) {
  rows->clear();
  const std::string end = HistoryPrefixEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::shared_ptr<const FamilySet> families = store.families();
  for (const auto& [name, collection] : families->collections) {
    for (const auto& [index, bucket] : collection.history) {
      if (bucket->end_ms - 1 <= at_ms) break;
      const std::unique_ptr<rocksdb::Iterator> it(
          store.db()->NewIterator(options, bucket->timeline->get()));
      for (it->Seek(HistoryPrefix(user)); it->Valid(); it->Next()) {
        std::string_view of, item;
        int64_t row_at_ms = 0;
        const std::string_view key = it->key().ToStringView();
        const bool readable = ParseTimelineKey(key, &of, &row_at_ms, &item);
        if (readable && row_at_ms <= at_ms) break;
        rows->push_back(
            {name, bucket, std::string(key), readable ? HistoryKey(user, item) : std::string()});
      }
      if (!it->status().ok()) return FromRocks(it->status(), "erase");
    }
  }
  return {};
}

// Forgets what is staged of the user in a collection.
void ForgetStaged(ShardParts& shard, const CollectionFamilies& collection, std::string_view user,
                  bool history) REQUIRES(shard.apply_lock) {
  shard.apply_lock.AssertHeld();
  shard.ring.Forget(shard.names->Intern(collection.name, collection.making), user, history);
}

// Deletes the user's own sets.
rocksdb::Status DeleteOwnSets(const ShardStore& store, const FamilySet& families,
                              std::string_view user, rocksdb::WriteBatch* batch) {
  if (families.own == nullptr) return {};
  return ForEachOwnSet(user, store.db(), families.own->get(),
                       [&](std::string_view key, std::string_view) {
                         return batch->Delete(families.own->get(), {key.data(), key.size()});
                       });
}

Status WriteErasure(ShardParts& shard, std::string_view user, int64_t at_ms,
                    const std::vector<LaterRow>& later, const std::vector<std::string>& damaged)
    REQUIRES(shard.apply_lock) {
  shard.apply_lock.AssertHeld();
  RETURN_IF_FAILED(shard.store->CheckWritable());
  UserRecord record;
  record.erased_seq = shard.NextSequence();
  record.erased_at_ms = at_ms;
  std::string encoded;
  record.Encode(&encoded);
  shard.users.Announce(user);
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const rocksdb::Slice key(user.data(), user.size());
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Merge(shard.store->users(), key, encoded);
  std::vector<std::string> days;
  bool with_rows = false;
  for (const auto& [name, collection] : families->collections) {
    days.push_back(DayKey(user, name));
    with_rows = with_rows || collection.policy.first_of_day;  // the outbox may have some
    if (status.ok()) status = batch.Delete(shard.store->users(), days.back());
    if (status.ok()) status = DeleteUser(key, collection, ErasedByUser, &batch);
    collection.ForEachFamily([&](const std::shared_ptr<Family>& family) {
      with_rows = with_rows || family->kind().erase == Table::Erase::kRows;
    });
  }
  if (status.ok() && families->own != nullptr) status = batch.Delete(families->own->get(), key);
  if (status.ok()) status = DeleteOwnSets(*shard.store, *families, user, &batch);
  for (const LaterRow& row : later) {
    const int64_t index = row.bucket->index;
    if (families->FindBucket(&CollectionFamilies::history, row.collection, index) != row.bucket) {
      continue;  // dropped since
    }
    if (status.ok()) status = batch.Delete(row.bucket->timeline->get(), row.timeline_key);
    if (row.state_key.empty()) continue;
    for (const auto& [of, bucket] : families->Find(row.collection)->history) {
      if (!status.ok() || bucket->end_ms - 1 <= at_ms) break;
      status = batch.Delete(bucket->states->get(), row.state_key);
    }
  }
  for (const std::string& copy : damaged) {
    if (status.ok()) status = batch.Delete(shard.store->meta(), copy);
  }
  if (status.ok() && with_rows) {
    status = batch.Put(shard.store->meta(), ErasingKey(user), ErasingState(at_ms));
  }
  if (status.ok()) status = shard.store->db()->Write(NotSynced(), &batch);
  if (!status.ok()) return FromRocks(status, "erase");
  shard.NoteRowWrite();
  shard.users.Settle(user, record);
  shard.days.Forget(days);
  for (const auto& [name, collection] : families->collections)
    ForgetStaged(shard, collection, user, true);
  return {};
}

}  // namespace

Status CommitErase(ShardParts& shard, std::string_view user, int64_t at_ms, bool always,
                   Erasure* done) {
  RETURN_IF_FAILED(shard.store->CheckWritable());  // there may be no tables to look into
  std::vector<LaterRow> later;
  std::vector<std::string> damaged;  // journal records set aside that name the user
  done->known = false;
  for (int looks = 1;; ++looks) {
    Status status = shard.store->CheckWritable();
    if (!status.ok()) return status;
    if (!done->known) {
      const Result<bool> held = MayHold(shard, user, RecordTier::kDisk);
      if (!held.ok()) return held.status();
      done->known = *held;
    }
    const uint64_t row_writes_before = shard.row_writes.load();
    status = FindLaterRows(*shard.store, user, at_ms, &later);
    if (!status.ok()) return status;
    if (looks == 1) shard.store->FindDamagedOf(user, &damaged);  // only openings add any
    SEENDB_PAUSE_POINT("erase: looked");
    const SharedLock::Exclusive alone(shard.apply_lock);
    if (!done->known) {  // what came since is in memory
      const bool last = looks >= kLooksBeforeErase;
      const Result<bool> held =
          MayHold(shard, user, last ? RecordTier::kDisk : RecordTier::kMemory);
      if (held.status().code() == StatusCode::kIncomplete) continue;
      if (!held.ok()) return held.status();
      done->known = *held;
    }
    if (!done->known && !always) return shard.store->CheckWritable();
    if (shard.row_writes.load() != row_writes_before) {
      if (looks < kLooksBeforeErase) continue;
      status = FindLaterRows(*shard.store, user, at_ms, &later);
    }
    if (status.ok()) status = WriteErasure(shard, user, at_ms, later, damaged);
    if (!status.ok()) return status;
    done->written = true;
    break;
  }
  // Nobody waits for the disk but the caller: what is written meanwhile is on it later, or not.
  return shard.store->SyncWal();
}

Status CommitForget(ShardParts& shard, std::string_view user, int64_t at_ms, UserRecord* record) {
  shard.apply_lock.AssertHeld();
  RETURN_IF_FAILED(shard.store->CheckWritable());
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const rocksdb::Slice key(user.data(), user.size());
  rocksdb::WriteBatch batch;
  rocksdb::Status status;
  for (auto& [name, marks] : record->marks) {
    marks.forgotten = {shard.NextSequence(), at_ms};
    const CollectionFamilies* const family = families->Find(name);
    if (family == nullptr) return Status::Unavailable("the shard is being closed");
    if (status.ok()) status = DeleteUser(key, *family, ClearedWithFilter, &batch);
  }
  std::string encoded;
  record->Encode(&encoded);
  shard.users.Announce(user);
  if (status.ok()) status = batch.Merge(shard.store->users(), key, encoded);
  if (status.ok()) status = shard.store->db()->Write(NotSynced(), &batch);
  if (!status.ok()) return FromRocks(status, "forget");
  shard.users.Settle(user, *record);
  for (const auto& [name, marks] : record->marks) {
    ForgetStaged(shard, *families->Find(name), user, false);
  }
  return {};
}

}  // namespace seendb
