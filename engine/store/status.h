// store/status.h: the one table from RocksDB's status to ours.

#pragma once

#include <rocksdb/status.h>

#include "seendb/status.h"

namespace seendb {

/// The engine's status for RocksDB's; `what` says what was being done.
Status FromRocks(const rocksdb::Status& status, std::string_view what);

}  // namespace seendb
