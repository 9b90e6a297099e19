// shard/history_trim.h: the cap on a user's entries of history, made real: what lies beyond it is
// evicted, and its rows go.

#pragma once

#include "shard/parts.h"

namespace seendb {

/// Evicts what lies beyond the cap of a collection: of the users written since the last time, where
/// they are known, else of all.
Status TrimHistory(ShardParts& shard, const Collection& of) REQUIRES_SHARED(shard.use)
    EXCLUDES(shard.apply_lock);

}  // namespace seendb
