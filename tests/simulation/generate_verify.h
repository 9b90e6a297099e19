// tests/simulation/generate_verify.h: filter requests that ask history too, and filters that are
// wrong often, put into a script that knows nothing of them.

#pragma once

#include "simulation/script.h"

namespace seendb::simulation {

/// Half of the filter requests ask history. Two scripts of three get a collection more, of history
/// and of filters that are small and full, wrong up to half of the time. All else stays as it is.
void AddVerify(uint64_t seed, Script* script);

}  // namespace seendb::simulation
