// tests/simulation/generate_marks.h: marks, put into a script that knows nothing of them.

#pragma once

#include "simulation/script.h"

namespace seendb::simulation {

/// In every second script users mark groups, and delete marks; and filter requests ask for them.
/// All else stays as it is.
void AddMarks(uint64_t seed, Script* script);

}  // namespace seendb::simulation
