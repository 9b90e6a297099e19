#include "shard/forget_collection.h"

#include <algorithm>
#include <utility>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "format/day_key.h"
#include "store/status.h"

namespace seendb {
namespace {

// Records rewritten, or keys deleted, in one batch: a writer waits for one.
constexpr size_t kForgetAtOnce = 256;

// Records are put and not merged: a merge takes nothing away. Nobody else writes records meanwhile.
Status PutWithoutMarks(ShardParts& shard, std::string_view collection,
                       const std::vector<std::string>& users, const LoadedRecords& loaded)
    REQUIRES(shard.apply_lock) {
  shard.apply_lock.AssertHeld();
  RETURN_IF_FAILED(shard.store->CheckWritable());
  rocksdb::WriteBatch batch;
  std::vector<std::pair<std::string, UserRecord>> records;
  std::string encoded;
  for (const std::string& user : users) {
    const UserRecord* const known = loaded.Find(user);
    // Of a record that is not understood nothing is taken away.
    if (known == nullptr || known->damaged || !known->newer.empty()) continue;
    UserRecord record = *known;
    record.marks.erase(std::string(collection));
    record.Encode(&encoded);
    const rocksdb::Status put = batch.Put(shard.store->users(), user, encoded);
    if (!put.ok()) return FromRocks(put, "forget a collection");
    records.emplace_back(user, std::move(record));
  }
  const rocksdb::Status written = shard.store->db()->Write(NotSynced(), &batch);
  if (!written.ok()) return FromRocks(written, "forget a collection");
  for (auto& [user, record] : records) shard.users.Replace(user, std::move(record));
  return {};
}

// Piece by piece: other writes go on between two.
Status ForgetMarks(ShardParts& shard, std::string_view collection) {
  std::string next;  // user to go on from
  for (bool all = false; !all;) {
    std::vector<std::string> users;
    all = true;
    const Status read =
        shard.users.ForEach(next, [&](std::string_view user, const UserRecord& record) {
          if (!record.marks.contains(collection)) return true;
          users.emplace_back(user);
          all = users.size() < kForgetAtOnce;
          return all;
        });
    if (!read.ok()) return read;
    if (users.empty()) return {};
    next = users.back() + '\0';
    const auto each = [&](const auto& visit) { std::for_each(users.begin(), users.end(), visit); };
    const Status put = WithRecordsOf<SharedLock::Exclusive>(
        each, shard.users, shard.apply_lock, [&](const LoadedRecords& known) {
          shard.apply_lock.AssertHeld();
          return PutWithoutMarks(shard, collection, users, known);
        });
    if (!put.ok()) return put;
    SEENDB_PAUSE_POINT("forget: piece written");
  }
  return {};
}

Status ForgetDays(ShardParts& shard, std::string_view collection) {
  rocksdb::WriteBatch batch;
  std::vector<std::string> keys;
  const auto write = [&]() -> Status {
    const rocksdb::Status written = shard.store->db()->Write(NotSynced(), &batch);
    shard.days.Forget(keys);
    batch.Clear();
    keys.clear();
    return FromRocks(written, "forget the active days of a collection");
  };
  const std::unique_ptr<rocksdb::Iterator> it(
      shard.store->db()->NewIterator({}, shard.store->users()));
  for (it->Seek(rocksdb::Slice(&kDayKeys, 1)); it->Valid(); it->Next()) {
    std::string_view user, of;
    if (!ParseDayKey(it->key().ToStringView(), &user, &of) || of != collection) continue;
    keys.push_back(it->key().ToString());
    const rocksdb::Status taken = batch.Delete(shard.store->users(), it->key());
    if (!taken.ok()) return FromRocks(taken, "forget the active days of a collection");
    if (keys.size() < kForgetAtOnce) continue;
    RETURN_IF_FAILED(write());
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the active days");
  return write();
}

}  // namespace

Status ForgetCollection(ShardParts& shard, std::string_view collection) {
  const Status forgotten = ForgetMarks(shard, collection);
  return forgotten.ok() ? ForgetDays(shard, collection) : forgotten;
}

}  // namespace seendb
