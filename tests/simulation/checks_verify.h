// tests/simulation/checks_verify.h: an answer that history was asked about, or not, against what
// the model knows.

#pragma once

#include "simulation/checks.h"

namespace seendb::simulation {

/// What is refuted was asked about, may be refuted and is counted; and where the model is certain
/// that history is whole nothing is called seen that was never played or served. `expected` is of
/// the facts that were asked about. Throws a Violation.
void CheckVerified(const Model& model, const Question& question, const FilterResponse& answer,
                   const Expected& expected, bool excused, Tally* tally);

}  // namespace seendb::simulation
