// tests/simulation/generate_exposures.h: what was on screens, put into a script that knows nothing
// of it.

#pragma once

#include "simulation/script.h"

namespace seendb::simulation {

/// In two scripts of three, much of what is served is on a screen as well, and filter requests ask
/// for it; policies keep few or many, and say that it counts, or not. All else stays as it is.
void AddExposures(uint64_t seed, Script* script);

}  // namespace seendb::simulation
