// What is changed for one user at a time: erasures, and settings of history.

#include <memory>
#include <utility>

#include "format/day_key.h"
#include "format/history_codec.h"
#include "ring/ring.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// Looks at rows without the apply lock, while others write some, before one is done while holding
// it alone.
constexpr int kLooksOutside = 4;

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

}  // namespace

// A row of history dated after an erasure: by its time alone it would count.
struct Ring::LaterRow {
  std::string collection;
  std::shared_ptr<HistoryBucket> bucket;
  std::string timeline_key, state_key;  // the second is empty where the first can't be read
};

// The timeline has the latest rows first: few are read.
Status Ring::FindLaterRows(std::string_view user, int64_t at_ms,
                           std::vector<LaterRow>* rows) const {
  rows->clear();
  const std::string end = HistoryPrefixEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::shared_ptr<const FamilySet> families = store_->families();
  for (const auto& [name, collection] : families->collections) {
    for (const auto& [index, bucket] : collection.history) {
      if (bucket->end_ms - 1 <= at_ms) break;
      const std::unique_ptr<rocksdb::Iterator> it(
          store_->db()->NewIterator(options, bucket->timeline->get()));
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

Status Ring::Erase(std::string_view user, int64_t at_ms, bool always, Erasure* done) {
  const Status readable = store_->CheckWritable();
  if (!readable.ok()) return readable;  // there may be no tables to look into
  std::vector<LaterRow> later;
  done->known = MayHold(user);       // mostly: then nobody waits for it
  std::vector<std::string> damaged;  // journal records set aside that name the user
  for (int looks = 1;; ++looks) {
    Status status = store_->CheckWritable();
    if (!status.ok()) return status;
    const uint64_t row_writes_before = row_writes();
    status = FindLaterRows(user, at_ms, &later);
    if (!status.ok()) return status;
    if (looks == 1) store_->FindDamagedOf(user, &damaged);  // only openings add any
    const SharedLock::Exclusive alone(apply_lock_);
    done->known = done->known || MayHold(user);
    if (!done->known && !always) return store_->CheckWritable();
    if (row_writes() != row_writes_before) {
      if (looks < kLooksOutside) continue;
      status = FindLaterRows(user, at_ms, &later);
    }
    if (status.ok()) status = WriteErasure(user, at_ms, later, damaged);
    if (!status.ok()) return status;
    done->written = true;
    break;
  }
  // Nobody waits for the disk but the caller: what is written meanwhile is on it later, or not.
  return store_->SyncWal();
}

Status Ring::WriteErasure(std::string_view user, int64_t at_ms, const std::vector<LaterRow>& later,
                          const std::vector<std::string>& damaged) {
  apply_lock_.AssertHeld();
  const Status writable = store_->CheckWritable();
  if (!writable.ok()) return writable;
  UserRecord record;
  record.erased_seq = NextSequence();
  record.erased_at_ms = at_ms;
  std::string encoded;
  record.Encode(&encoded);
  const std::shared_ptr<const FamilySet> families = store_->families();
  const rocksdb::Slice key(user.data(), user.size());
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Merge(store_->users(), key, encoded);
  std::vector<std::string> days;
  bool with_rows = false;
  for (const auto& [name, collection] : families->collections) {
    days.push_back(DayKey(user, name));
    with_rows = with_rows || collection.policy.first_of_day;  // the outbox may have some
    if (status.ok()) status = batch.Delete(store_->users(), days.back());
    if (status.ok()) status = DeleteUser(key, collection, ErasedByUser, &batch);
    collection.ForEachFamily([&](const std::shared_ptr<Family>& family) {
      with_rows = with_rows || family->kind().erase == Table::Erase::kRows;
    });
  }
  for (const LaterRow& row : later) {
    const int64_t index = row.bucket->index;
    if (families->FindBucket(&CollectionFamilies::history, row.collection, index) != row.bucket) {
      continue;  // dropped since
    }
    if (status.ok()) status = batch.Delete(row.bucket->timeline->get(), row.timeline_key);
    if (!status.ok() || row.state_key.empty()) continue;
    status = batch.Delete(row.bucket->states->get(), row.state_key);
  }
  for (const std::string& copy : damaged) {
    if (status.ok()) status = batch.Delete(store_->meta(), copy);
  }
  if (status.ok() && with_rows) {
    status = batch.Put(store_->meta(), ErasingKey(user), ErasingState(at_ms));
  }
  if (status.ok()) status = store_->db()->Write(NotSynced(), &batch);
  if (!status.ok()) return FromRocks(status, "erase");
  Settle(user, record);
  days_.Forget(days);
  for (const auto& [name, collection] : families->collections) EraseStaged(collection, user, true);
  return {};
}

Status Ring::Forget(std::string_view user, int64_t at_ms, UserRecord* record) {
  apply_lock_.AssertHeld();
  const Status writable = store_->CheckWritable();
  if (!writable.ok()) return writable;
  const std::shared_ptr<const FamilySet> families = store_->families();
  const rocksdb::Slice key(user.data(), user.size());
  rocksdb::WriteBatch batch;
  rocksdb::Status status;
  for (auto& [name, marks] : record->marks) {
    marks.forgotten = {NextSequence(), at_ms};
    const CollectionFamilies* const family = families->Find(name);
    if (family == nullptr) return Status::Unavailable("the shard is being closed");
    if (status.ok()) status = DeleteUser(key, *family, ClearedWithFilter, &batch);
  }
  std::string encoded;
  record->Encode(&encoded);
  if (status.ok()) status = batch.Merge(store_->users(), key, encoded);
  if (status.ok()) status = store_->db()->Write(NotSynced(), &batch);
  if (!status.ok()) return FromRocks(status, "forget");
  Settle(user, *record);
  for (const auto& [name, marks] : record->marks) {
    EraseStaged(*families->Find(name), user, false);
  }
  return {};
}

void Ring::EraseStaged(const CollectionFamilies& collection, std::string_view user, bool history) {
  apply_lock_.AssertHeld();
  const uint16_t id = names_->Intern(collection.name, collection.making);
  const ReaderLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.staging != nullptr) slot.staging->Erase(id, user);
    if (history && slot.history != nullptr) slot.history->Erase(id, user);
  }
}

Status Ring::ChangeSettings(
    std::string_view user,
    const std::function<Result<std::optional<UserRecord>>(const UserRecord* known)>& change) {
  apply_lock_.AssertHeldShared();
  const MutexLock one(settings_mutex_);
  const Status writable = store_->CheckWritable();
  if (!writable.ok()) return writable;
  const std::shared_ptr<const UserRecord> known = settings_.Find(user);
  const Result<std::optional<UserRecord>> record = change(known.get());
  if (!record.ok()) return record.status();
  if (!record->has_value()) return {};
  std::string encoded;
  (*record)->Encode(&encoded);
  const rocksdb::Status merged =
      store_->db()->Merge({}, store_->users(), {user.data(), user.size()}, encoded);
  if (!merged.ok()) return FromRocks(merged, "write a user's settings");
  Settle(user, **record);
  return {};
}

Status Ring::FlushUsers() {
  if (!store_->CheckWritable().ok() || !users_changed_.exchange(false)) return {};
  Status flushed = store_->FlushUsers();
  if (!flushed.ok()) users_changed_.store(true);
  return flushed;
}

}  // namespace seendb
