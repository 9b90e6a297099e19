// backup/prune.h: removes old backups, and files that no backup needs.

#pragma once

#include <cstdint>
#include <vector>

#include "backup/folder.h"
#include "backup/keep.h"
#include "seendb/status.h"

namespace seendb::backup {

/// The result of Prune.
struct Pruned {
  std::vector<uint64_t> kept, removed;  ///< backups
  uint64_t files = 0, bytes = 0;        ///< that were deleted
};

/// Removes the backups that no rule keeps, then the files that no list names and no create that
/// runs has claimed; without one, the parts of files too. kCorruption, and nothing is removed: a
/// list can't be read, and may name any file. kBusy: somebody reads the folder for longer than a
/// minute. Killed half way, it is to be called again.
Result<Pruned> Prune(const Folder& folder, const std::vector<KeepRule>& rules);

}  // namespace seendb::backup
