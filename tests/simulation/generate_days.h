// tests/simulation/generate_days.h: first plays of the day, put into a script that knows nothing of
// them.

#pragma once

#include "simulation/script.h"

namespace seendb::simulation {

/// In half of the scripts most collections tell first plays of the day, some for a while; plays
/// carry the day that their clients know, or an older one; and some are repeated soon. All else
/// stays as it is.
void AddDays(uint64_t seed, Script* script);

}  // namespace seendb::simulation
