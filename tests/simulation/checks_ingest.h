// tests/simulation/checks_ingest.h: what the engine says of logs against what the model knows.

#pragma once

#include "seendb/engine.h"
#include "simulation/model.h"
#include "simulation/tally.h"

namespace seendb::simulation {

/// Throws a Violation where Engine::Sources contradicts the model.
void CheckSources(const Model& model, Engine* engine);
/// The sum of everything counted of logs.
void CheckIngested(const Model& model, const SourceCounts& counts);
/// What each shard has stored.
Result<std::vector<StoredOffsets>> ReadOffsets(Engine* engine, uint32_t shards);

}  // namespace seendb::simulation
