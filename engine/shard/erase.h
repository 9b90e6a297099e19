// shard/erase.h: a user is forgotten. The record of it is on disk first, with all that is deleted
// at once; the rows of history and of the outbox go in pieces after it, and are gone on with where
// a crash or a failure interrupted that.

#pragma once

#include <cstdint>
#include <string>

#include "shard/parts.h"

namespace seendb {

/// Erases what there is of the user (Engine::EraseUser); `collections` are all of the database.
/// `erasure` may be null. Synced. Cost: one look-up a bucket, and a batch for each 256 rows of
/// history; a look at each row of the outbox.
Status EraseUser(ShardParts& shard, const std::string& user, const CollectionMap& collections,
                 const EraseOptions& options, Erasure* erasure) REQUIRES_SHARED(shard.use)
    EXCLUDES(shard.apply_lock);

/// Goes on with erasures that were interrupted; after a failure not at once.
Status ResumeErasures(ShardParts& shard) REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);

}  // namespace seendb
