// shard/filter_dump.h: the dump of a user's filter: the sources of a plain filter request, which
// are read in the same order, as parts.

#pragma once

#include <string_view>

#include "seendb/filter_dump.h"
#include "shard/parts.h"

namespace seendb {

/// Fills in all of `*dump`, which is empty, but what is of the database's key.
void DumpFilter(const ShardParts& shard, const Collection& collection, std::string_view user,
                bool served_ids, FilterDump* dump) REQUIRES_SHARED(shard.use);

}  // namespace seendb
