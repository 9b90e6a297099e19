// base/folder_sync.h: makes the names in a folder survive a loss of power.

#pragma once

#include <string>

#include "seendb/status.h"

namespace seendb {

/// Syncs the folder that `path` lies in, after a file there was made or renamed. Blocks for the
/// disk. kIOError.
Status SyncFolderOf(const std::string& path);

}  // namespace seendb
