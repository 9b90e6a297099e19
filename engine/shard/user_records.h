// shard/user_records.h: what holds for single users of a shard: that they were erased, and when;
// what they cleared, when they paused history, which deleted items may be recommended again. Asked
// before every play is accepted.
//
// The truth is the family `users`. How it is looked up: user_lookup.h.
// Threads: any, but for Load().

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/counters.h"
#include "base/sync.h"
#include "format/user_codec.h"
#include "shard/user_lookup.h"
#include "store/shard_store.h"

namespace seendb {

/// See the head of this file.
class UserRecords : public UserLookup {
 public:
  /// What is to be united with a record; nothing where nothing is to be written.
  using Change = std::function<Result<std::optional<UserRecord>>(const UserRecord* known)>;
  using Visit = std::function<bool(std::string_view user, const UserRecord& record)>;

  UserRecords(ShardStore* store, uint64_t cache_bytes, Counters* counters);

  /// Reads the family: fills the directory, names damaged records, and shows each to `visit`, if
  /// there is one. Also after the store was opened anew: a change that failed may hold now. Nobody
  /// else is inside the shard.
  Status Load(const Visit& visit = nullptr);
  /// Shows the records from `from` on, until `visit` says false. Reads the disk, past the cache.
  Status ForEach(const std::string& from, const Visit& visit) const;

  /// Unites the user's record with `record`. The caller shares the apply lock, and syncs the log
  /// once it has released it.
  Status Unite(std::string_view user, const UserRecord& record);
  /// The same with what `change(known)` makes of the record; nothing is written where it makes
  /// nothing. One at a time. `known` was loaded for the user inside the apply lock, and is brought
  /// up to date. The caller syncs the log whether anything was written or not: what made it
  /// unnecessary may not be synced yet.
  Status ChangeOne(std::string_view user, LoadedRecords* known, const Change& change);
  /// Writes the user records into a table, if any changed since: no damage of a log takes them
  /// then.
  Status FlushIfChanged();

 private:
  ShardStore* const store_;
  Counters* const counters_;
  Mutex change_mutex_{LockRank::kUserRecords};  // one change of a record at a time
};

}  // namespace seendb
