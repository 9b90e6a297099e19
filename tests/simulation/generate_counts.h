// tests/simulation/generate_counts.h: events that are counted by groups, put into a script that
// knows nothing of them.

#pragma once

#include "simulation/script.h"

namespace seendb::simulation {

/// In two scripts of three, half of what is served and exposed has groups. All else stays as it is.
void AddCounts(uint64_t seed, Script* script);

}  // namespace seendb::simulation
