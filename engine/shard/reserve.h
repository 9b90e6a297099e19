// shard/reserve.h: promises to serve items, as far as caps leave room (seendb/counts.h).

#pragma once

#include <string>

#include "seendb/counts.h"
#include "shard/parts.h"

namespace seendb {

/// UserCounts::Reserve, in the user's turn. Precondition: the request is valid, and the
/// collection's family of counts is made. `at_ms`: when.
Status Reserve(ShardParts& shard, const Collection& collection, const std::string& user,
               const ReserveRequest& request, int64_t at_ms, Reserved* reserved)
    REQUIRES_SHARED(shard.use);

}  // namespace seendb
