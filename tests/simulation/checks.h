// tests/simulation/checks.h: an answer of the engine against what the model knows.

#pragma once

#include "seendb/engine.h"
#include "simulation/model.h"
#include "simulation/tally.h"

namespace seendb::simulation {

/// A filter request, as asked.
struct Question {
  std::string collection, user;
  ScriptFilter filter;
  bool beside = false;  ///< something else went on meanwhile
};

/// Throws a Violation where `answer` breaks a promise. `engine` is asked about ceilings; `excused`
/// says that something could not be read by design of the script.
void CheckAnswer(const Model& model, const Question& question, const FilterResponse& answer,
                 Engine* engine, bool excused, Tally* tally);

/// Throws a Violation where a filter request was recorded before the present, before an impression
/// that the user's list has, or before what an erasure or a clear took: it would be forgotten at
/// once, and answered again.
void CheckServedAt(const Model& model, const Question& question, const FilterResponse& answer);

/// Whether layers of the user's filter were dropped at the ceiling, and could have to be.
bool BeyondCeiling(const Model& model, const std::string& collection, const std::string& user,
                   int64_t bucket, Engine* engine);

/// Whether the answer says that the event at that place of the batch was refused.
bool IsRefused(const RecordResult& recorded, size_t index);

/// Throws a Violation where a report contradicts the model.
void CheckReport(const Model& model, const UserReport& report);

}  // namespace seendb::simulation
