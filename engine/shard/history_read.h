// shard/history_read.h: a user's history read: pages merged over collections, and look-ups.

#pragma once

#include <span>
#include <string>

#include "seendb/history.h"
#include "shard/history_cursor.h"
#include "shard/parts.h"

namespace seendb {

/// The page of a valid request, of these collections in the order of their names; `cursor`: where
/// the page before ended, null for the first.
Status ReadHistory(const ShardParts& shard, const HistoryRequest& request,
                   std::span<const CollectionPtr> wanted, const HistoryCursor* cursor,
                   HistoryPage* page) REQUIRES_SHARED(shard.use);

/// Looks up items of a user in a collection.
Status LookupHistory(const ShardParts& shard, const Collection& of, const std::string& user,
                     std::span<const IdRef> items, HistoryLookup* found) REQUIRES_SHARED(shard.use);

}  // namespace seendb
