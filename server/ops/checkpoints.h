// server/ops/checkpoints.h: the folder POST /admin/checkpoint writes into.

#pragma once

#include <string>

#include "seendb/status.h"

namespace seendb::ops {

/// Makes `folder` unless it is there. kInvalidArgument: it is `db` or lies inside it, where no
/// checkpoint can be taken. kIOError: it can't be made, or is no folder.
Status PrepareCheckpoints(const std::string& folder, const std::string& db);

}  // namespace seendb::ops
