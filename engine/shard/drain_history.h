// shard/drain_history.h: the history of a closed slot becomes rows: of each item one merge of its
// state and one row of the timeline, in key order, in batches like those of the filters. Words that
// were said in an earlier bucket are merged into that one.

#pragma once

#include "ring/history_staging.h"
#include "shard/parts.h"

namespace seendb {

/// Writes the rows, not synced.
Status DrainHistory(ShardParts& shard, const HistoryStaging& staging) REQUIRES(shard.drain_mutex)
    EXCLUDES(shard.apply_lock);

}  // namespace seendb
