// tests/simulation/generate_heal.h: shards that stop, and are healed in place.

#pragma once

#include <cstdint>

#include "simulation/script.h"

namespace seendb::simulation {

/// Of the failures that are armed half are healed in place. In half of the seeds a shard's log
/// fails once more or twice.
void AddHeal(uint64_t seed, Script* script);

}  // namespace seendb::simulation
