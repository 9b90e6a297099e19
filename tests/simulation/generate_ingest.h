// tests/simulation/generate_ingest.h: a share of a script's events comes out of logs.

#pragma once

#include <cstdint>

#include "simulation/script.h"

namespace seendb::simulation {

/// In half of the seeds: some plays and impressions are published to a topic instead, and ingested
/// from there, now or later; some again, after crashes above all; topics are forgotten.
void AddIngest(uint64_t seed, Script* script);

}  // namespace seendb::simulation
