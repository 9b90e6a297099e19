// shard/makings.h: collections that are deleted, or begin anew with other fixed fields, in one
// shard. Writes to such a collection are stopped first, in every shard (`stopped` in parts.h): so
// nothing comes between.

#pragma once

#include <cstdint>
#include <string>

#include "shard/parts.h"

namespace seendb {

/// Writes to the collection are refused from now on, with kBusy; those under way have ended.
void StopWrites(ShardParts& shard, const std::string& name) REQUIRES_SHARED(shard.use)
    EXCLUDES(shard.apply_lock);
void ResumeWrites(ShardParts& shard, const std::string& name) REQUIRES_SHARED(shard.use)
    EXCLUDES(shard.apply_lock);

/// Whether there is a play, an impression or a row of history in it, or may be one, since not all
/// can be read or was lost. True for good once writes are stopped.
bool HoldsAny(const ShardParts& shard, const Collection& collection) REQUIRES_SHARED(shard.use);

/// Notes, synced, that the collection goes, and that the next one is `making`: the deletion is
/// finished now, whatever happens. Nothing where that is known.
Status BeginDeletion(ShardParts& shard, const std::string& name, uint64_t making)
    REQUIRES_SHARED(shard.use);
/// Deletes it, synced; nothing where that is done. Cost: a look at every user of whom there are
/// marks or active days.
Status FinishDeletion(ShardParts& shard, const std::string& name) REQUIRES_SHARED(shard.use)
    EXCLUDES(shard.apply_lock);

/// Gives a collection that holds nothing another policy, fixed fields too, synced. Writes are
/// stopped.
Status BeginAnew(ShardParts& shard, const Collection& wanted) REQUIRES_SHARED(shard.use);

}  // namespace seendb
