// shard/active_days.h: on which day each user was last active in each collection, so that the first
// play of a day is told once.
//
// The truth is the family `users`, under day keys (format/day_key.h). A caller that may have met a
// first play claims its key before it looks the key up and writes it. Concurrent callers for the
// same key wait until the claim ends: the key is then known to be active, or free again. A caller
// claims all its keys of a shard together, for one write of that shard. While it waits it holds no
// lock, and no claim in another shard: so no two callers wait for each other. Memory has the keys
// that are known to be active, kKnownMost at most (about 150 bytes each); beyond that they are
// forgotten, and looked up again.
//
// Threads: any.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/sync.h"
#include "filter/keyed_hash.h"
#include "store/shard_store.h"

namespace seendb {

/// How a claim ended.
enum class ClaimEnd : uint8_t {
  kUnused,   ///< nothing was to be written
  kWritten,  ///< the day is stored
  kFailed,   ///< the write failed: the day may be stored, but nobody was told of it
};

/// See the head of this file.
class ActiveDays {
 public:
  static constexpr size_t kKnownMost = 65'536;

  explicit ActiveDays(const ShardStore* store) : store_(store) {}

  /// Keys that are their caller's until it ends the claim.
  struct Claimed {
    std::vector<std::string> keys;
    std::vector<bool> not_told;  // per key: the day may be stored, and nobody was told of it
    uint64_t forgets = 0;        // calls of Forget before
  };
  /// Claims those of `keys`, each once, that are not known to be active on `day` or later; waits
  /// while others hold one. Reads no disk. Precondition: the caller holds no claim and no
  /// lock.
  Claimed Claim(const std::vector<std::string>& keys, int64_t day);
  /// Looks the keys up: ends the claims of those that are active on `day` or later, and returns the
  /// others. What can't be read counts as not active.
  std::vector<std::string> KeepFirst(Claimed claimed, int64_t day);
  void End(const std::vector<std::string>& keys, int64_t day, ClaimEnd end);

  /// The day is stored, but the first play could not be told: the day counts as not stored.
  void MarkNotTold(const std::string& key, int64_t day);

  /// The last day of a key as stored; nothing where there is none or it can't be read.
  std::optional<int64_t> LastDay(const std::string& key) const;

  /// The keys were deleted from the family `users`.
  void Forget(const std::vector<std::string>& keys);

 private:
  bool Known(const std::string& key, int64_t day) const REQUIRES(mutex_);
  void Note(const std::string& key, int64_t day) REQUIRES(mutex_);
  void NoteNotTold(const std::string& key, int64_t day) REQUIRES(mutex_);
  /// Whether another call has claimed one of the keys.
  bool AnyClaimed(const std::vector<std::string>& keys, int64_t day) const REQUIRES(mutex_);
  void EndLocked(const std::vector<std::string>& keys, int64_t day, ClaimEnd end) REQUIRES(mutex_);
  std::vector<bool> LookUp(const std::vector<std::string>& keys, int64_t day) const;

  const ShardStore* const store_;
  Mutex mutex_{LockRank::kLeaf};
  CondVar ended_;
  uint64_t forgets_ GUARDED_BY(mutex_) = 0;  // calls of Forget
  std::unordered_set<std::string, KeyedHasher> claimed_ GUARDED_BY(mutex_);
  using Days = std::unordered_map<std::string, int64_t, KeyedHasher>;
  Days known_ GUARDED_BY(mutex_);     // the last day
  Days not_told_ GUARDED_BY(mutex_);  // the day maybe stored
};

}  // namespace seendb
