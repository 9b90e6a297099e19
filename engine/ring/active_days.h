// ring/active_days.h: on which day each user was last active in each collection, so that the first
// play of a day is told once.
//
// The truth is the family `users`, under day keys (format/day_key.h). Whoever may have met a first
// play claims its key, so that of callers at once one looks it up and writes it while the others
// wait for what becomes of it: known from then on, or free again. A caller claims all its keys of a
// shard together and asks shards in ascending order, so that no two wait for each other. In memory
// are the keys known to be active, kKnownMost at most (about 150 bytes each); beyond that they are
// forgotten, and looked up again.
//
// Threads: any.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/shard_store.h"

namespace seendb {

/// What became of a claim.
enum class ClaimEnd : uint8_t {
  kUnused,   ///< nothing was to be written
  kWritten,  ///< the day is stored
  kFailed,   ///< the write failed; it may be there all the same, but nobody was told
};

/// See the head of this file.
class ActiveDays {
 public:
  static constexpr size_t kKnownMost = 65'536;

  explicit ActiveDays(const ShardStore* store) : store_(store) {}

  /// Of `keys`, each once, those not active on `day` or later, which are the caller's until it ends
  /// the claim. What can't be read counts as not active. Precondition: the caller holds no claim of
  /// this shard or a higher one.
  std::vector<std::string> Claim(const std::vector<std::string>& keys, int64_t day);
  void End(const std::vector<std::string>& keys, int64_t day, ClaimEnd end);

  /// It is stored, but whoever was to be told of it was not: it counts as not there.
  void Untell(const std::string& key, int64_t day);

  /// The last day of a key as stored; nothing where there is none or it can't be read.
  std::optional<int64_t> LastDay(const std::string& key) const;

  /// These are stored no more.
  void Forget(const std::vector<std::string>& keys);

 private:
  bool Known(const std::string& key, int64_t day) const;
  void Note(const std::string& key, int64_t day);
  void NoteUntold(const std::string& key, int64_t day);
  void EndLocked(const std::vector<std::string>& keys, int64_t day, ClaimEnd end);
  std::vector<bool> LookUp(const std::vector<std::string>& keys, int64_t day) const;

  const ShardStore* const store_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable ended_;
  uint64_t forgets_ = 0;  // calls of Forget
  std::unordered_set<std::string> claimed_;
  std::unordered_map<std::string, int64_t> known_;   // the last day
  std::unordered_map<std::string, int64_t> untold_;  // the day that is maybe stored
};

}  // namespace seendb
