// shard/maintenance.h: what falls due in one shard: the next bucket is made ahead of time, ended
// ones are sealed, expired ones dropped, what lies beyond the cap of a history evicted, erasures
// that were interrupted are gone on with, and what erasures left on disk is removed. Seals, drops
// and evictions fall due in the maintenance window of each policy's time zone.

#pragma once

#include <cstdint>

#include "shard/collection.h"
#include "shard/parts.h"

namespace seendb {

/// Makes the present bucket of each collection, and the next one shortly before it begins. Rests
/// after each, unless they are wanted `at_once`: nobody writes yet whom a rest would serve.
Status EnsureBuckets(const ShardParts& shard, const CollectionMap& collections, bool at_once)
    REQUIRES_SHARED(shard.use);

/// What falls due from now on is done by MaintainIfDue; what did before is made up for by the
/// first.
void BeginMaintenance(ShardParts& shard) EXCLUDES(shard.upkeep.mutex);

/// Does what has fallen due since the last time; the first failure, which keeps nothing else from
/// being done. One at a time.
Status MaintainIfDue(ShardParts& shard, const CollectionMap& collections)
    REQUIRES(shard.upkeep.mutex) REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);

}  // namespace seendb
