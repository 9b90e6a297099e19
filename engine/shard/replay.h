// shard/replay.h: the journals are staged again when a shard opens. What only newer software reads
// was met before (ShardOpening::CheckNewer): what is left of it here is only looked past.

#pragma once

#include "shard/parts.h"

namespace seendb {

/// Reads the users' records, then stages every record of every journal family. Once, before
/// anything else.
Status Replay(ShardParts& shard);

/// The lowest sequence of a journal record; above all where there is none. Cost: a look at the
/// first record of each journal family.
Result<uint64_t> FirstJournalled(const ShardStore& store);

}  // namespace seendb
