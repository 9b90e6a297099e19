// server/ops/checkpoints.h: the folder POST /admin/checkpoint writes into.

#pragma once

#include <string>

#include "seendb/status.h"

namespace seendb::ops {

/// kInvalidArgument: `folder` is `db` or lies inside it, where no checkpoint can be taken.
Status CheckCheckpoints(const std::string& folder, const std::string& db);

/// The same, and makes `folder` unless it is there; nothing where it is empty. kIOError: it can't
/// be made, or is no folder.
Status PrepareCheckpoints(const std::string& folder, const std::string& db);

}  // namespace seendb::ops
