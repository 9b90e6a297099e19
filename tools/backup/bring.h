// backup/bring.h: a file on its way into a folder of backups.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "backup/folder.h"
#include "backup/meter.h"
#include "seendb/status.h"

namespace seendb::backup {

/// Gives `bytes` of a file from `offset` on.
using ReadPiece = std::function<Status(uint64_t offset, uint64_t bytes, std::string* to)>;

/// Stores a file whose SHA-256 is known: from then on the folder has it, whole. The part that an
/// earlier attempt brought is not read again. kCorruption, and nothing is stored: `read` gives
/// another file. Failures of `read` as they are; a part stays, for the next attempt.
Status Bring(const Folder& folder, const BackedFile& file, const ReadPiece& read, Meter* meter);

}  // namespace seendb::backup
