// backup/verify.h: whether every backup of a folder can be restored.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backup/folder.h"
#include "backup/meter.h"
#include "seendb/status.h"

namespace seendb::backup {

/// A file of the folder that is not as it was written.
struct Damage {
  std::string file;               ///< its path
  std::string what;               ///< "missing", "shortened", "damaged" or why it can't be read
  std::vector<uint64_t> backups;  ///< which of them need it
  std::string path;               ///< what it is in the first of them
};

/// The result of Verify.
struct Verified {
  uint64_t backups = 0, files = 0, bytes = 0;  ///< looked at
  uint64_t unlisted = 0, unlisted_bytes = 0;   ///< files that no list names: not looked at
  std::vector<Damage> damages;
};

/// Reads every list, and every file that one names. Changes nothing. kUnavailable: it was
/// cancelled. Precondition: `folder` is locked to read. Cost: reads everything once.
Result<Verified> Verify(const Folder& folder, Meter* meter);

}  // namespace seendb::backup
