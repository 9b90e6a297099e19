// What users' records say of a collection that goes: the next one of its name begins without.

#include <algorithm>
#include <utility>

#include "format/day_key.h"
#include "ring/ring.h"
#include "store/status.h"

namespace seendb {
namespace {

// Records rewritten, or keys deleted, in one batch.
constexpr size_t kPiece = 1'000;

}  // namespace

// Records are put and not merged: a merge takes nothing away. All that is known of a user is in
// memory, and nobody else writes records meanwhile.
Status Ring::ForgetMarks(std::string_view collection, std::span<const std::string> users) {
  apply_lock_.AssertHeld();
  const Status writable = store_->CheckWritable();
  if (!writable.ok()) return writable;
  rocksdb::WriteBatch batch;
  std::vector<std::pair<std::string, UserRecord>> records;
  std::string encoded;
  for (const std::string& user : users) {
    const std::shared_ptr<const UserRecord> known = settings_.Find(user);
    // Of a record that is not understood nothing is taken away.
    if (known == nullptr || known->damaged || !known->newer.empty()) continue;
    UserRecord record = *known;
    record.marks.erase(std::string(collection));
    record.Encode(&encoded);
    const rocksdb::Status put = batch.Put(store_->users(), user, encoded);
    if (!put.ok()) return FromRocks(put, "forget a collection");
    records.emplace_back(user, std::move(record));
  }
  const rocksdb::Status written = store_->db()->Write(NotSynced(), &batch);
  if (!written.ok()) return FromRocks(written, "forget a collection");
  for (auto& [user, record] : records) settings_.Replace(user, std::move(record));
  users_changed_.store(true);
  return {};
}

Status Ring::ForgetDays(std::string_view collection) {
  rocksdb::WriteBatch batch;
  std::vector<std::string> keys;
  const auto write = [&]() -> Status {
    const rocksdb::Status written = store_->db()->Write(NotSynced(), &batch);
    days_.Forget(keys);
    batch.Clear();
    keys.clear();
    return FromRocks(written, "forget the active days of a collection");
  };
  const std::unique_ptr<rocksdb::Iterator> it(store_->db()->NewIterator({}, store_->users()));
  for (it->Seek(rocksdb::Slice(&kDayKeys, 1)); it->Valid(); it->Next()) {
    std::string_view user, of;
    if (!ParseDayKey(it->key().ToStringView(), &user, &of) || of != collection) continue;
    keys.push_back(it->key().ToString());
    const rocksdb::Status taken = batch.Delete(store_->users(), it->key());
    if (!taken.ok()) return FromRocks(taken, "forget the active days of a collection");
    if (keys.size() < kPiece) continue;
    const Status written = write();
    if (!written.ok()) return written;
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the active days");
  return write();
}

Status Ring::ForgetCollection(std::string_view collection) {
  const std::vector<std::string> users = settings_.UsersWithMarks(collection);
  for (size_t at = 0; at < users.size(); at += kPiece) {
    const std::span<const std::string> piece(users.data() + at,
                                             std::min(kPiece, users.size() - at));
    const SharedLock::Exclusive alone(apply_lock_);
    const Status forgotten = ForgetMarks(collection, piece);
    if (!forgotten.ok()) return forgotten;
  }
  return ForgetDays(collection);
}

bool Ring::Holds(uint16_t collection) const {
  if (NewestStagedBucket(collection, {})) return true;
  const ReaderLock lock(mutex_);
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return slot.history != nullptr && slot.history->Holds(collection);
  });
}

}  // namespace seendb
