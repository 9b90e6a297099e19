// items/id_hash.h: the hash of an item's id in memory, under a seed of the process: who chooses ids
// can't choose where they lie.

#pragma once

#include <cstdint>

#include "seendb/id.h"

namespace seendb::items {

/// Cost: about 5 ns.
uint64_t HashId(const IdRef& id);

/// The hash of a text, under the same seed.
uint64_t HashText(std::string_view text);

}  // namespace seendb::items
