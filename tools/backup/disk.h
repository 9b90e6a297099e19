// backup/disk.h: what a folder of backups does with files besides reading and writing them.

#pragma once

#include <cstdint>
#include <string>

#include "seendb/status.h"

namespace seendb::backup {

/// So much is read and written at once.
inline constexpr uint64_t kPieceBytes = 1u << 20;

/// Makes a folder that its owner alone may enter, durably; one that is there stays.
Status MakeOwnFolder(const std::string& path);
/// Removes a file, if it is there.
Status RemoveFile(const std::string& path);

}  // namespace seendb::backup
