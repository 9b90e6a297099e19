// shard/user_lookup.h: looks up what the family `users` has of a user (user_records.h).
//
// In memory are a directory of the users that may have a record (user_directory.h), which answers
// for nearly all who have none, and the records asked for lately (user_cache.h). Others are read:
// one Get.
//
// Whoever decides on plays does so inside the apply lock, and reads before it is taken:
//
//   return WithRecordsOf<SharedLock::Shared>(
//       OneUser(user), users, apply_lock,
//       [&](LoadedRecords& known) { ... known.Find(user) ... });
//
// Changes are made inside the apply lock: Announce, the write, Settle.
//
// A record that can't be read counts as damaged (UserRecord::damaged): plays enter the filters and
// not history, no override holds, history proves nothing. It is read again at the next look-up.
//
// Threads: any.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/counters.h"
#include "base/pause_point.h"
#include "base/sync.h"
#include "filter/keyed_hash.h"
#include "seendb/status.h"
#include "shard/user_cache.h"
#include "shard/user_directory.h"

namespace seendb {

/// How far a look-up goes. kCached: what is in these objects; kMemory: and in RocksDB's memory,
/// which waits for no disk. Where that does not tell, the answer is kIncomplete.
enum class RecordTier : uint8_t { kCached, kMemory, kDisk };

/// Reads a user's record from the family `users`; null where there is none. kIncomplete: memory
/// alone was to be asked, and does not tell.
using ReadUserRecord =
    std::function<Result<UserRecordPtr>(std::string_view user, bool memory_only)>;

/// See the head of this file.
class UserLookup {
 public:
  UserLookup(ReadUserRecord read, uint64_t cache_bytes, Counters* counters)
      : read_(std::move(read)), cache_(cache_bytes), counters_(counters) {}

  /// Those of whom the family has a record, by KeyedHash. Before anything else, and again after
  /// the family was opened anew: what is cached may have changed then.
  void Enter(const std::vector<uint64_t>& users);

  /// OK: `*record` is the user's record as of now. kIncomplete: the tier does not tell. Any other
  /// status: it can't be read, and `*record` is one that is damaged. `*version`, if wanted, is of
  /// before the look (UserCache::Version).
  Status Find(std::string_view user, RecordTier tier, UserRecordPtr* record,
              uint64_t* version = nullptr) const;
  /// The same to the disk; a record that can't be read counts as damaged.
  UserRecordPtr Find(std::string_view user) const;

  /// A record of the user is about to be written.
  void Announce(std::string_view user) { directory_.Add(KeyedHash(user)); }
  /// A change was written: unites what is known of the user with it. Inside the apply lock.
  void Settle(std::string_view user, const UserRecord& change);
  /// A record was written in the place of the user's. Inside the apply lock, alone.
  void Replace(std::string_view user, UserRecord record);
  /// The user's record was deleted. Inside the apply lock, alone.
  void Forget(std::string_view user);
  uint64_t cache_bytes() const { return cache_.bytes(); }
  uint64_t directory_bytes() const { return directory_.bytes(); }

 protected:
  /// Whether a record has changed since the last call.
  bool TakeChanged() { return changed_.exchange(false); }
  /// What TakeChanged() was asked for has failed.
  void NoteChanged() { changed_ = true; }

 private:
  friend class LoadedRecords;

  Status Look(std::string_view user, uint64_t hash, RecordTier tier, UserRecordPtr* record,
              uint64_t* version) const;

  const ReadUserRecord read_;
  UserDirectory directory_;
  mutable UserCache cache_;
  Counters* const counters_;
  std::atomic<bool> changed_{false};
};

/// The records of the users of one write: loaded before the apply lock is taken, brought up to date
/// inside it. `users` calls its argument with each user, in any order and as often as it likes,
/// each time the same; their text outlives this. Keeps the records of those who have one. Threads:
/// one.
class LoadedRecords {
 public:
  explicit LoadedRecords(const UserLookup* of) : of_(of), changes_(of->cache_.changes()) {}

  /// Outside the apply lock. kIncomplete: the tier does not tell of somebody. kIOError: the disk
  /// fails. A record that is damaged on disk counts as such.
  template <typename Users>
  Status Load(const Users& users, RecordTier tier) {
    changes_ = of_->cache_.changes();
    Status first;
    if (of_->directory_.empty()) return first;
    users([&](std::string_view user) {
      if (!first.ok()) return;
      const uint64_t hash = KeyedHash(user);
      if (!of_->directory_.MayHave(hash)) return;
      first = LoadOne(user, hash, tier);
    });
    return first;
  }
  /// Inside the apply lock: Find answers for all users as of now. kIncomplete: the tier does not
  /// tell of somebody; leave, and load again. Any other failure as by Load.
  template <typename Users>
  Status Refresh(const Users& users, RecordTier tier) {
    return of_->cache_.changes() == changes_ ? Status() : Load(users, tier);
  }
  /// Null where the user has none. Good as long as this is, and not loaded anew.
  const UserRecord* Find(std::string_view user) const {
    if (records_.empty()) return nullptr;
    const auto at = records_.find(user);
    return at == records_.end() ? nullptr : at->second.record.get();
  }

 private:
  struct Loaded {
    uint64_t version = 0;  // of the stripe, before it was read
    UserRecordPtr record;
  };

  Status LoadOne(std::string_view user, uint64_t hash, RecordTier tier);

  const UserLookup* const of_;
  uint64_t changes_;  // before the last look at all of them
  std::unordered_map<std::string_view, Loaded, KeyedHasher> records_;
};

/// For LoadedRecords: one user.
inline auto OneUser(std::string_view user) {
  return [user](const auto& visit) { visit(user); };
}

/// Runs `work(known)` inside the apply lock, with the records of `users` as of now: they are read
/// before it is taken. `Inside`: SharedLock::Shared or SharedLock::Exclusive.
///
/// A record that changed since, and is not in memory, is read after the lock was left again; the
/// last of some such looks reads it inside.
template <typename Inside, typename Users, typename Work>
Status WithRecordsOf(const Users& users, const UserLookup& of, SharedLock& apply_lock,
                     const Work& work) {
  constexpr int kLooksOutside = 4;
  LoadedRecords known(&of);
  for (int looks = 1;; ++looks) {
    Status loaded = known.Load(users, RecordTier::kDisk);
    if (!loaded.ok()) return loaded;
    SEENDB_PAUSE_POINT("users: loaded");
    const Inside inside(apply_lock);
    loaded = known.Refresh(users, looks < kLooksOutside ? RecordTier::kMemory : RecordTier::kDisk);
    if (loaded.code() == StatusCode::kIncomplete) continue;  // one changed, and is not in memory
    return loaded.ok() ? work(known) : loaded;
  }
}

}  // namespace seendb
