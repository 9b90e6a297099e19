// shard/counts.h: the counted events of a user (seendb/counts.h): the row of the user in the family
// counts/<collection>. Writes merge into it (batch.h).

#pragma once

#include <string>

#include "seendb/counts.h"
#include "shard/parts.h"

namespace seendb {

/// UserCounts::ReadCounts.
Status ReadCounts(const ShardParts& shard, const Collection& collection, const std::string& user,
                  const CountsRequest& request, CountsPage* page) REQUIRES_SHARED(shard.use);

}  // namespace seendb
