// tests/simulation/checks_days.h: what is told of first plays of the day against what the model
// knows.

#pragma once

#include <string>
#include <vector>

#include "seendb/engine.h"
#include "simulation/model.h"
#include "simulation/tally.h"

namespace seendb::simulation {

/// The answer to an acknowledged call, before the model knows of it; `excused`: days may not be
/// readable. Throws a Violation.
void CheckFirstPlays(const Model& model, const std::string& collection,
                     const std::vector<Sent>& sent, const RecordResult& recorded, bool excused,
                     Tally* tally);

/// After an erasure: the outbox does not name the user. Throws a Violation.
void CheckErasedFromOutbox(const std::string& user, Engine* engine);

/// The days of a report, where they can be read.
void CheckDays(const Model& model, const UserReport& report);

}  // namespace seendb::simulation
