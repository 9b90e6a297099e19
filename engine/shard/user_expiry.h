// shard/user_expiry.h: records of users who were erased so long ago that nothing from before the
// erasure can come back.
//
// An erasure leaves a record, also of a user nobody has heard of (EraseOptions::always): erasures
// alone would let the family `users` grow without limit. A record that says no more than that goes
// once no bucket reaches back to the erasure, no play of such a time is accepted any more, and no
// journal record of before is left.

#pragma once

#include "shard/parts.h"

namespace seendb {

/// Deletes those records. Not synced: what a power loss brings back goes the next time. Cost: a
/// look at each user record; the shard's writers wait while 64 of them are deleted.
Status DeleteOldErasures(ShardParts& shard, const CollectionMap& collections, int64_t now_ms)
    REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);

}  // namespace seendb
