// shard/traces.h: removes from disk what erasures left there: rows in logs, and in tables below
// their deletions (engine/doc/writes.md, "The bytes of an erasure").

#pragma once

#include <cstdint>

#include "shard/parts.h"

namespace seendb {

/// Removes what was erased from logs and tables, but for what a slot of the ring has that is not
/// drained. Returns at once where nothing was erased since the last time. Cost: a scan of the
/// family `users`, a flush, and a compaction of the tables that have rows of erased users, or
/// deletions. Unfinished erasures are gone on with first; where some are still unfinished, a later
/// call does it.
Status PurgeTraces(ShardParts& shard) REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);

/// The same, where Options::erase_within_days could pass before this is called on the next day.
Status PurgeTracesIfDue(ShardParts& shard, int64_t now_ms) REQUIRES_SHARED(shard.use)
    EXCLUDES(shard.apply_lock);

/// What erasures up to this sequence of the shard left is removed. 0: nothing is.
Result<uint64_t> PurgedSequence(const ShardStore& store);

}  // namespace seendb
