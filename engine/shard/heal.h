// shard/heal.h: a shard whose disk failed, or was full, comes back without a restart: it is closed
// and opened anew. RocksDB's own recovery is not used: it goes on behind a log whose end is torn.

#pragma once

#include "shard/parts.h"

namespace seendb {

/// Whether to open it anew now; false also where that can't be told without waiting.
bool WantsHealing(ShardParts& shard) EXCLUDES(shard.use, shard.healing.mutex);

/// Opens it anew and drains it, where it failed; with background threads, after a failure to do so
/// not at once. Sets `*healed` where it is sound again; else leaves it alone.
Status HealIfDue(ShardParts& shard, bool* healed) EXCLUDES(shard.use, shard.healing.mutex);

}  // namespace seendb
