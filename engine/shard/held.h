// shard/held.h: whether a shard holds anything of a user.

#pragma once

#include <string_view>

#include "shard/parts.h"

namespace seendb {

/// Whether anything is held of the user, or may be, since not all can be read or was lost. True for
/// good for a caller that holds the apply lock alone. kIncomplete: memory alone was to be asked,
/// and does not tell; it is asked after the disk was.
Result<bool> MayHold(const ShardParts& shard, std::string_view user, RecordTier tier);

}  // namespace seendb
