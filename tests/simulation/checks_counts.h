// tests/simulation/checks_counts.h: counts of events against the model.

#pragma once

#include <string>

#include "seendb/engine.h"
#include "simulation/model.h"
#include "simulation/tally.h"

namespace seendb::simulation {

/// Throws a Violation where a count of the user is not what it can be.
void CheckCounts(const Model& model, const std::string& collection, const std::string& user,
                 Engine* engine, Tally* tally);

}  // namespace seendb::simulation
