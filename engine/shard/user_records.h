// shard/user_records.h: what holds for single users: that they were erased, and when; what they
// cleared from their history, when they paused it. Asked before every play is accepted.
//
// The truth is the family `users`; this is its picture in memory (about 200 bytes a user that has
// a record, and 16 to 40 a toggle or override), filled on open. Threads: any.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/counters.h"
#include "base/sync.h"
#include "format/user_codec.h"
#include "store/shard_store.h"

namespace seendb {

/// See the head of this file.
class UserRecords {
 public:
  /// What is to be united with a record; nothing where nothing is to be written.
  using Change = std::function<Result<std::optional<UserRecord>>(const UserRecord* known)>;

  UserRecords(ShardStore* store, Counters* counters) : store_(store), counters_(counters) {}

  /// Reads the family. Also after the store was opened anew: a change that failed may hold now.
  Status Load();
  /// The user's record as of now; null where there is none.
  std::shared_ptr<const UserRecord> Find(std::string_view user) const {
    if (!any_.load(std::memory_order_acquire)) return nullptr;
    const ReaderLock lock(mutex_);
    const auto at = records_.find(user);
    return at == records_.end() ? nullptr : at->second;
  }
  /// Unites the user's record with what `change(known)` makes of it; nothing is written where it
  /// makes nothing. One at a time; `known` may be null. The caller shares the apply lock, and syncs
  /// the log once it has released it, whether anything was written or not: what made it unnecessary
  /// may not be synced yet.
  Status ChangeOne(std::string_view user, const Change& change);
  /// For writes that carry a user's record themselves, once they have been made: unites the record
  /// with `record`.
  void Settle(std::string_view user, const UserRecord& record) {
    Put(user, record);
    NoteWritten();
  }
  /// The same, of a record that was put in the place of what there was.
  void Replace(std::string_view user, UserRecord record) {
    {
      const WriterLock lock(mutex_);
      records_[std::string(user)] = std::make_shared<const UserRecord>(std::move(record));
    }
    NoteWritten();
  }
  /// Users whose record has marks of a collection. Cost: a look at every record.
  std::vector<std::string> UsersWithMarks(std::string_view collection) const {
    std::vector<std::string> users;
    const ReaderLock lock(mutex_);
    for (const auto& [user, record] : records_) {
      if (record->marks.contains(collection)) users.push_back(user);
    }
    return users;
  }
  /// Writes the user records into a table, if any changed since: no damage of a log takes them
  /// then.
  Status FlushIfChanged();

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return HashBytes(text); }
  };

  void Put(std::string_view user, const UserRecord& record);
  void NoteWritten() { changed_.store(true); }

  ShardStore* const store_;
  Counters* const counters_;
  Mutex change_mutex_{LockRank::kUserRecords};  // one change of a record at a time
  mutable ReadWriteMutex mutex_{LockRank::kLeaf};
  std::atomic<bool> any_{false};
  std::atomic<bool> changed_{false};  // since they were written into a table
  std::unordered_map<std::string, std::shared_ptr<const UserRecord>, Hash, std::equal_to<>> records_
      GUARDED_BY(mutex_);
};

}  // namespace seendb
