// recovery/repair_store.h: a damaged store beside the shards is made anew.

#pragma once

#include <string>

#include "recovery/beside.h"
#include "recovery/kept.h"
#include "seendb/repair.h"
#include "seendb/status.h"

namespace seendb {

/// Makes the store in `folder` below `root` anew of what can be read, and keeps the old one; where
/// what its rows are read by is lost, there is no store any more. A loss is a note: an item
/// that is gone is unknown, a set that lacks a piece makes answers degraded by itself. Killed, it
/// is called again. Says in a dry run what it would do.
Status RepairStore(rocksdb::Env* env, const std::string& root, const std::string& folder,
                   const BesideFindings& findings, KeptFiles* kept, RepairReport* report);

}  // namespace seendb
