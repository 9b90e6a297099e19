// backup/restore.h: makes a database of a backup.

#pragma once

#include <string>

#include "backup/folder.h"
#include "backup/meter.h"
#include "seendb/status.h"

namespace seendb::backup {

/// Copies a backup into the new folder `target`, whose parent is there. It lies in
/// `target`.restoring until it is whole and synced; a killed call leaves that, and the next one
/// removes it. Every file is held against its SHA-256. kIncompatible: `target` exists. kCorruption,
/// and there is no `target`: files of the backup are missing or damaged; the message names them.
/// Precondition: `folder` is locked to read.
Status Restore(const Folder& folder, const BackupList& list, const std::string& target,
               Meter* meter);

}  // namespace seendb::backup
