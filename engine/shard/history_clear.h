// shard/history_clear.h: a user's history cleared, and, where that is asked for, what the filters
// know. The synced word that nothing up to a time counts comes first; then the rows go, in pieces.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "shard/parts.h"

namespace seendb {

/// Rows of a user's history in a collection that do not count any more.
struct GoneRows {
  std::string collection, user;
  int64_t up_to_ms = 0;
  bool unreadable = false;  ///< those too of which nothing can be read, whenever they were written
};

/// Clears a user's history up to `at_ms` (nothing: now), or the newest known, in the collections
/// wanted; with `filter` also what their filters know. Synced but for the rows, which do not count
/// any more.
Status ClearHistory(ShardParts& shard, const std::string& user,
                    std::span<const CollectionPtr> wanted, bool filter,
                    std::optional<int64_t> at_ms) REQUIRES_SHARED(shard.use)
    EXCLUDES(shard.apply_lock);

/// Deletes rows, oldest bucket first; of rows that stay, the words that were said up to then. Cost:
/// a look without the apply lock and a batch holding it alone for each 256 rows.
Status DeleteHistoryRows(ShardParts& shard, const GoneRows& gone) EXCLUDES(shard.apply_lock);

}  // namespace seendb
