// backup/create.h: makes a backup.

#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "backup/backup_list.h"
#include "backup/folder.h"
#include "backup/meter.h"
#include "backup/source.h"
#include "seendb/status.h"

namespace seendb::backup {

/// How far a backup is.
struct CreateProgress {
  uint32_t parts_done = 0, parts = 0;  ///< shards, and stores beside them
  uint64_t new_bytes = 0;              ///< brought into the folder so far
};

struct CreateOptions {
  std::chrono::milliseconds silent_most{0};  ///< without success, before it gives up
  std::chrono::milliseconds pause{1'000};    ///< before something is tried again
  std::function<void(const CreateProgress&)> progress = [](const CreateProgress&) {};
};

/// Makes a backup of `source` in the folder `path`, which is made if it is not there: its list,
/// which has been written. kBusy: another create runs there. kIncompatible: the folder is something
/// else, or another database's. kUnavailable: the source did not answer, or it was cancelled:
/// called again, it goes on with what it has brought.
Result<BackupList> Create(const std::string& path, Source* source, Meter* meter,
                          const CreateOptions& options);

}  // namespace seendb::backup
