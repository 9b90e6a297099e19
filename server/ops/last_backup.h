// server/ops/last_backup.h: the last backup that succeeded, known after a restart too.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/sync.h"
#include "seendb/status.h"

namespace seendb::ops {

/// A backup, as its maker tells of it.
struct BackupNote {
  int64_t at_ms = 0;       ///< when the server was told, since 1970 by the machine's clock
  uint64_t id = 0;         ///< its number in its folder
  uint64_t bytes = 0;      ///< of all its files
  uint64_t new_bytes = 0;  ///< that no earlier backup had
  uint64_t took_ms = 0;
};

/// See the head of this file. Threads: any, once it is loaded.
class LastBackup {
 public:
  /// Reads the database's file BACKED_UP, if it is there.
  void Load(const std::string& db);
  /// Nothing: none is known of.
  std::optional<BackupNote> note() const EXCLUDES(mutex_);
  /// Notes one; also in the file, once Load has named it. Not synced: power loss may bring back an
  /// older one, which asks for a backup too early. kIOError.
  Status Note(const BackupNote& note) EXCLUDES(writing_, mutex_);

 private:
  std::string path_;
  Mutex writing_{LockRank::kServerCall};
  mutable Mutex mutex_{LockRank::kLeaf};
  std::optional<BackupNote> note_ GUARDED_BY(mutex_);
};

}  // namespace seendb::ops
