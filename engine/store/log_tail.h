// store/log_tail.h: half a record at the end of a log, cut off before RocksDB reads it.
//
// A write that fails half way, or a power loss, leaves half a record. RocksDB reads up to it,
// leaves it where it is and goes on in a new log; at every later opening it has to guess, by
// sequences that a failed write may have used up, whether the newer log belongs behind the old one,
// and may drop it, or refuse to open. Without the half record there is nothing to guess.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <rocksdb/env.h>

#include "seendb/status.h"

namespace seendb {

/// Cuts off, and makes that survive power loss, what follows the last sound record of the newest
/// log with records, and of those newer than it. Nothing is cut where records follow what is
/// unsound, nor where it may have been synced: `synced` is the sequence that is known to be.
Status CutTornTails(rocksdb::Env* env, const std::string& shard_path,
                    std::optional<uint64_t> synced);

}  // namespace seendb
