#include "shard/user_records.h"

#include "format/day_key.h"
#include "store/status.h"

namespace seendb {

Status UserRecords::Load() {
  const Table& kind = *ParseFamilyName(kUsersFamilyName).kind;
  const rocksdb::Slice end(&kDayKeys, 1);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> it(store_->db()->NewIterator(options, store_->users()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (!kind.newer_reason(it->value().ToStringView()).empty()) continue;
    UserRecord record;
    // What a poisoned record still says holds: an erasure is not forgotten for it. Of one that says
    // nothing it is known that history fails closed.
    if (!record.Parse(it->value().ToStringView())) record = UserRecord{.damaged = true};
    if (record.damaged) {
      store_->AddProblem("the user record of " + it->key().ToString() + " is damaged");
      counters_->damaged.fetch_add(1, std::memory_order_relaxed);
    }
    Put(it->key().ToStringView(), record);
  }
  return FromRocks(it->status(), "read the user records");
}

void UserRecords::Put(std::string_view user, const UserRecord& record) {
  const WriterLock lock(mutex_);
  std::shared_ptr<const UserRecord>& known = records_[std::string(user)];
  auto united = known ? std::make_shared<UserRecord>(*known) : std::make_shared<UserRecord>();
  united->Join(record);
  known = std::move(united);
  any_.store(true, std::memory_order_release);
}

Status UserRecords::ChangeOne(std::string_view user, const Change& change) {
  const MutexLock one(change_mutex_);
  const Status writable = store_->CheckWritable();
  if (!writable.ok()) return writable;
  const std::shared_ptr<const UserRecord> known = Find(user);
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

Status UserRecords::FlushIfChanged() {
  if (!store_->CheckWritable().ok() || !changed_.exchange(false)) return {};
  Status flushed = store_->FlushUsers();
  if (!flushed.ok()) changed_.store(true);
  return flushed;
}

}  // namespace seendb
