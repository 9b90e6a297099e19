#include "shard/user_records.h"

#include <utility>
#include <vector>

#include "base/return_if_failed.h"
#include "format/day_key.h"
#include "store/status.h"

namespace seendb {
namespace {

// What a value of the family says; false where that is for newer software to know. What a poisoned
// record still says holds: an erasure is not forgotten for it. Of one that says nothing it is known
// that history fails closed.
bool ParseRow(std::string_view value, UserRecord* record) {
  static const Table& kind = *ParseFamilyName(kUsersFamilyName).kind;
  if (!kind.newer_reason(value).empty()) return false;
  if (!record->Parse(value)) *record = UserRecord{.damaged = true};
  return true;
}

// A table that is not open is not read from memory: there the answer is OK, without a value.
Result<UserRecordPtr> ReadRow(ShardStore* store, std::string_view user, bool memory_only) {
  if (!store->readable()) return Status::Unavailable("the shard can't be read");
  rocksdb::ReadOptions options;
  if (memory_only) options.read_tier = rocksdb::kBlockCacheTier;
  rocksdb::PinnableSlice value;
  const rocksdb::Status status =
      store->db()->Get(options, store->users(), {user.data(), user.size()}, &value);
  if (memory_only && (status.IsIncomplete() || (status.ok() && value.empty()))) {
    return Status(StatusCode::kIncomplete, "the user's record is not in memory");
  }
  if (status.IsNotFound()) return UserRecordPtr();
  if (!status.ok()) {
    Status failed = FromRocks(status, "read the record of user " + std::string(user));
    store->problems().Add(std::string(failed.message()));
    return failed;
  }
  UserRecord record;
  if (!ParseRow(value.ToStringView(), &record)) return UserRecordPtr();
  return UserRecordPtr(std::make_shared<const UserRecord>(std::move(record)));
}

}  // namespace

UserRecords::UserRecords(ShardStore* store, uint64_t cache_bytes, Counters* counters)
    : UserLookup([store](std::string_view user,
                         bool memory_only) { return ReadRow(store, user, memory_only); },
                 cache_bytes, counters),
      store_(store),
      counters_(counters) {}

Status UserRecords::ForEach(const std::string& from, const Visit& visit) const {
  const rocksdb::Slice end(&kDayKeys, 1);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(store_->db()->NewIterator(options, store_->users()));
  for (it->Seek(from); it->Valid(); it->Next()) {
    UserRecord record;
    if (!ParseRow(it->value().ToStringView(), &record)) continue;
    if (!visit(it->key().ToStringView(), record)) break;
  }
  return FromRocks(it->status(), "read the user records");
}

Status UserRecords::Load(const Visit& visit) {
  std::vector<uint64_t> users;  // counted first: the directory is made in one piece
  const Status read = ForEach({}, [&](std::string_view user, const UserRecord& record) {
    users.push_back(KeyedHash(user));
    if (record.damaged) {
      store_->problems().Add("the user record of " + std::string(user) + " is damaged");
      counters_->damaged.fetch_add(1, std::memory_order_relaxed);
    }
    return visit == nullptr || visit(user, record);
  });
  if (!read.ok()) return read;
  Enter(users);
  return {};
}

Status UserRecords::Unite(std::string_view user, const UserRecord& record) {
  RETURN_IF_FAILED(store_->CheckWritable());
  std::string encoded;
  record.Encode(&encoded);
  Announce(user);
  const rocksdb::Status merged =
      store_->db()->Merge({}, store_->users(), {user.data(), user.size()}, encoded);
  if (!merged.ok()) return FromRocks(merged, "write a user's settings");
  Settle(user, record);
  return {};
}

// Another change may have ended since the caller entered. Then the record is nearly always in
// memory.
Status UserRecords::ChangeOne(std::string_view user, LoadedRecords* known, const Change& change) {
  const MutexLock one(change_mutex_);
  RETURN_IF_FAILED(known->Refresh(OneUser(user), RecordTier::kDisk));
  const Result<std::optional<UserRecord>> record = change(known->Find(user));
  if (!record.ok()) return record.status();
  return record->has_value() ? Unite(user, **record) : store_->CheckWritable();
}

Status UserRecords::FlushIfChanged() {
  if (!store_->CheckWritable().ok() || !TakeChanged()) return {};
  Status flushed = store_->tables().FlushUsers();
  if (!flushed.ok()) NoteChanged();
  return flushed;
}

}  // namespace seendb
