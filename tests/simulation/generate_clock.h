// tests/simulation/generate_clock.h: the clock is set ahead and back.

#pragma once

#include <cstdint>

#include "simulation/script.h"

namespace seendb::simulation {

/// In half of the seeds: now and then the clock is wrong for a while, by milliseconds, hours or
/// days, while the rest goes on, and the database is maintained, closed or killed.
void AddClock(uint64_t seed, Script* script);

}  // namespace seendb::simulation
