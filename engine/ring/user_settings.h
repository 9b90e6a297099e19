// ring/user_settings.h: what holds for single users: that they were erased, and when; what they
// cleared from their history, when they paused it. Asked before every play is accepted.
//
// The truth is the family `users`; this is its picture in memory (about 200 bytes a user that has
// a record, and 16 to 40 a toggle or override), filled on open. Threads: any.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "format/user_codec.h"

namespace seendb {

/// See the head of this file.
class UserSettings {
 public:
  /// Unites the user's record with `record`.
  void Put(std::string_view user, const UserRecord& record) {
    const WriterLock lock(mutex_);
    std::shared_ptr<const UserRecord>& known = records_[std::string(user)];
    auto united = known ? std::make_shared<UserRecord>(*known) : std::make_shared<UserRecord>();
    united->Join(record);
    known = std::move(united);
    any_.store(true, std::memory_order_release);
  }
  /// The user's record as of now; null where there is none.
  std::shared_ptr<const UserRecord> Find(std::string_view user) const {
    if (!any_.load(std::memory_order_acquire)) return nullptr;
    const ReaderLock lock(mutex_);
    const auto at = records_.find(user);
    return at == records_.end() ? nullptr : at->second;
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
  /// Puts `record` in the place of what is known of the user.
  void Replace(std::string_view user, UserRecord record) {
    const WriterLock lock(mutex_);
    records_[std::string(user)] = std::make_shared<const UserRecord>(std::move(record));
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return HashBytes(text); }
  };
  mutable ReadWriteMutex mutex_{LockRank::kLeaf};
  std::atomic<bool> any_{false};
  std::unordered_map<std::string, std::shared_ptr<const UserRecord>, Hash, std::equal_to<>> records_
      GUARDED_BY(mutex_);
};

}  // namespace seendb
