// shard/held.h: whether a shard holds anything of a user.

#pragma once

#include <string_view>

#include "shard/parts.h"

namespace seendb {

/// Whether anything is held of the user, or may be, since not all can be read or was lost. True for
/// good for a caller that holds the apply lock alone.
bool MayHold(const ShardParts& shard, std::string_view user);

}  // namespace seendb
