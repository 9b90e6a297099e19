// shard/forget_collection.h: what users' records say of a collection that goes: the next one of its
// name begins without.

#pragma once

#include <string_view>

#include "shard/parts.h"

namespace seendb {

/// Takes what users' records, and their last active days, say of a collection out of them. Nothing
/// is written to it meanwhile. Cost: a look at every user of whom there is either.
Status ForgetCollection(ShardParts& shard, std::string_view collection) EXCLUDES(shard.apply_lock);

}  // namespace seendb
