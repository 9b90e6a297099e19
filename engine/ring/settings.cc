// What is changed for one user at a time: erasures, and settings of history.

#include <memory>
#include <utility>

#include "format/day_key.h"
#include "ring/ring.h"
#include "store/history_rows.h"
#include "store/status.h"

namespace seendb {
namespace {

// Adds to `*batch` the deletion of the user's last active days, and their keys to `*keys`.
rocksdb::Status DeleteDaysOf(std::string_view user, const ShardStore& store,
                             rocksdb::WriteBatch* batch, std::vector<std::string>* keys) {
  const std::string end = DayKeyEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(options, store.users()));
  for (it->Seek(DayKeyPrefix(user)); it->Valid(); it->Next()) {
    rocksdb::Status status = batch->Delete(store.users(), it->key());
    if (!status.ok()) return status;
    keys->push_back(it->key().ToString());
  }
  return it->status();
}

// Adds to `*batch` the deletion of what filters and impressions of a collection hold of the user.
rocksdb::Status DeleteFilters(const rocksdb::Slice& user, const CollectionFamilies& collection,
                              rocksdb::WriteBatch* batch) {
  rocksdb::Status status;
  if (collection.impressions) status = batch->Delete(collection.impressions->get(), user);
  for (const auto& [index, bucket] : collection.buckets) {
    if (status.ok()) status = batch->Delete(bucket->family->get(), user);
  }
  return status;
}

}  // namespace

Status Ring::Erase(std::string_view user, int64_t at_ms) {
  const Gate::Exclusive alone(gate_);
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
  if (status.ok()) status = DeleteDaysOf(user, *store_, &batch, &days);
  for (const auto& [name, collection] : families->collections) {
    if (status.ok()) status = DeleteFilters(key, collection, &batch);
    for (const auto& [index, bucket] : collection.history) {
      for (const auto& family : {bucket->states, bucket->timeline}) {
        if (status.ok()) status = DeleteHistoryOf(user, store_->db(), family->get(), &batch);
      }
    }
  }
  std::vector<std::string> damaged;  // journal records set aside that name the user
  store_->FindDamagedOf(user, &damaged);
  for (const std::string& copy : damaged) {
    if (status.ok()) status = batch.Delete(store_->meta(), copy);
  }
  if (status.ok()) status = store_->db()->Write(Synced(), &batch);
  if (!status.ok()) return FromRocks(status, "erase");
  settings_.Put(user, record);
  days_.Forget(days);
  for (const auto& [name, collection] : families->collections) EraseStaged(name, user, true);
  return {};
}

Status Ring::Forget(const Gate::Exclusive&, std::string_view user, int64_t at_ms,
                    UserRecord* record) {
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
    if (status.ok()) status = DeleteFilters(key, *family, &batch);
  }
  std::string encoded;
  record->Encode(&encoded);
  if (status.ok()) status = batch.Merge(store_->users(), key, encoded);
  if (status.ok()) status = store_->db()->Write(Synced(), &batch);
  if (!status.ok()) return FromRocks(status, "forget");
  settings_.Put(user, *record);
  for (const auto& [name, marks] : record->marks) EraseStaged(name, user, false);
  return {};
}

void Ring::EraseStaged(std::string_view collection, std::string_view user, bool history) {
  const uint16_t id = names_->Intern(collection);
  const std::shared_lock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.staging != nullptr) slot.staging->Erase(id, user);
    if (history && slot.history != nullptr) slot.history->Erase(id, user);
  }
}

Status Ring::ChangeSettings(
    const Gate::Scope&, std::string_view user,
    const std::function<Result<std::optional<UserRecord>>(const UserRecord* known)>& change) {
  const std::lock_guard one(settings_mutex_);
  const Status writable = store_->CheckWritable();
  if (!writable.ok()) return writable;
  const std::shared_ptr<const UserRecord> known = settings_.Find(user);
  const Result<std::optional<UserRecord>> record = change(known.get());
  if (!record.ok()) return record.status();
  if (!record->has_value()) return {};
  std::string encoded;
  (*record)->Encode(&encoded);
  const rocksdb::Status merged =
      store_->db()->Merge(Synced(), store_->users(), {user.data(), user.size()}, encoded);
  if (!merged.ok()) return FromRocks(merged, "write a user's settings");
  settings_.Put(user, **record);
  return {};
}

}  // namespace seendb
