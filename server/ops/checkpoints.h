// server/ops/checkpoints.h: the folder POST /admin/checkpoint writes into.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "seendb/status.h"

namespace seendb::ops {

/// kInvalidArgument: `folder` is `db` or lies inside it, where no checkpoint can be taken.
Status CheckCheckpoints(const std::string& folder, const std::string& db);

/// The same, and makes `folder` unless it is there; nothing where it is empty. Sets `*last_ms` to
/// what was noted last. kIOError: it can't be made, or is no folder.
Status PrepareCheckpoints(const std::string& folder, const std::string& db,
                          std::atomic<int64_t>* last_ms);

/// Notes in the folder when a checkpoint was complete, so that it is known after a restart.
/// kIOError.
Status NoteCheckpoint(const std::string& folder, int64_t at_ms);

}  // namespace seendb::ops
