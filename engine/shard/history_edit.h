// shard/history_edit.h: a user's history changed otherwise than by plays: items deleted, recording
// paused and resumed; and how far plays lie ahead of the clock.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "seendb/facts.h"
#include "seendb/history.h"
#include "seendb/id.h"
#include "shard/parts.h"

namespace seendb {

/// The items and groups that a call takes from a user's history.
struct ToDelete {
  std::span<const IdRef> items;
  EventGroups same_as;  ///< of them; those that may be recommended again with them
};

/// Deletes items from a user's history, in one synced batch: a deletion of each that covers
/// `at_ms` (nothing: now) and all that is known of it, and, where the policy lets it be recommended
/// again, its override and those of the groups. What the user's record says of the time before
/// `oldest_ms` is forgotten.
Status DeleteItems(ShardParts& shard, const Collection& of, const std::string& user,
                   const ToDelete& named, std::optional<int64_t> at_ms, int64_t oldest_ms)
    REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);

/// Pauses or resumes the recording of a user's history from `at_ms` on, synced; nothing where it is
/// so already.
/// `collections` are all of the database; `oldest_ms` as above.
Status SetRecording(ShardParts& shard, const std::string& user, bool paused,
                    std::optional<int64_t> at_ms, const CollectionMap& collections,
                    int64_t oldest_ms) REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);

/// Whether recording is paused, and since when. kCorruption where that can't be read.
Result<Recording> GetRecording(const ShardParts& shard, const std::string& user)
    REQUIRES_SHARED(shard.use);

/// A clock that was set back may lie before plays that were recorded: returns the end of the newest
/// bucket with such plays, of the user, or of anybody where `user` is empty; kNeverMs where there
/// is none. Buckets up to that of `max_future` after `now_ms` don't count.
int64_t NewestAheadMs(const ShardParts& shard, const Collection& of, std::string_view user,
                      int64_t now_ms) REQUIRES_SHARED(shard.use);

}  // namespace seendb
