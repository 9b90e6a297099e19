// server/migration/affected_users.h: whose plays an old store lacks, so that going back is honest.
// Kept in the file <db>/MIGRATION/<collection>.affected, a JSON string per line.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/sync.h"
#include "seendb/status.h"

namespace seendb::migration {

/// See the head of this file. Threads: any.
class AffectedUsers {
 public:
  /// Reads what is there. kIOError.
  static Result<std::unique_ptr<AffectedUsers>> Open(const std::string& db,
                                                     const std::string& collection);
  /// Deletes the file. kIOError.
  static Status Remove(const std::string& db, const std::string& collection);
  ~AffectedUsers();
  AffectedUsers(const AffectedUsers&) = delete;
  AffectedUsers& operator=(const AffectedUsers&) = delete;

  /// Notes a user, at most kUsersMost; a line that can't be written is known until the process
  /// ends.
  void Add(std::string_view user) EXCLUDES(mutex_);
  size_t count() const EXCLUDES(mutex_);
  /// Up to `most` of them, in the order in which they were noted.
  std::vector<std::string> First(size_t most) const EXCLUDES(mutex_);

  static constexpr size_t kUsersMost = 100'000;

 private:
  explicit AffectedUsers(int file) : file_(file) {}

  const int file_;
  mutable Mutex mutex_{LockRank::kServerCall};
  std::unordered_set<std::string> known_ GUARDED_BY(mutex_);
  std::vector<std::string> first_ GUARDED_BY(mutex_);  // up to kShownMost
  static constexpr size_t kShownMost = 1'000;
};

}  // namespace seendb::migration
