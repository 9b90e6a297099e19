// tests/simulation/generate_history.h: history put into a script that knows nothing of it.

#pragma once

#include "simulation/script.h"

namespace seendb::simulation {

/// Switches history on in half of the scripts and adds everything that is about it: what players
/// say, heartbeats, deletions, clears, pauses, pages, look-ups, other policies. The rest of the
/// script stays as it is; retention alone changes no more, so that no pause is forgotten that
/// counts again.
void AddHistory(uint64_t seed, Script* script);

}  // namespace seendb::simulation
