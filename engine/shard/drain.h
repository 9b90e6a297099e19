// shard/drain.h: closed slots of the ring become merges of the seen filters and rows of history;
// then their journal goes. Draining twice changes nothing.

#pragma once

#include <cstddef>
#include <cstdint>

#include "shard/parts.h"

namespace seendb {

/// Drains every closed slot, oldest first; stops at the first failure, to be tried again. kBusy
/// where calls that have a slot pinned don't end within two seconds: nothing has failed then.
/// `most`: no more slots than that.
Status DrainClosed(ShardParts& shard, size_t most = SIZE_MAX) EXCLUDES(shard.apply_lock);

/// Waits, for a bounded time, while RocksDB holds writes back.
void WaitForWrites(const ShardStore& store);

}  // namespace seendb
