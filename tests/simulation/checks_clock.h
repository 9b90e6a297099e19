// tests/simulation/checks_clock.h: answers after a clock that was ahead has dropped buckets.

#pragma once

#include "seendb/engine.h"
#include "simulation/checks.h"

namespace seendb::simulation {

/// Buckets after the present one that a clock set back may leave behind it, at most.
inline constexpr int64_t kMostAhead = 400;

/// Whether anything in the window may have been dropped.
bool MayMissDropped(const Model& model, const std::string& collection);
/// Whether all that an answer misses are buckets that may have been dropped.
bool MissesDropped(const Model& model, const Question& question, const FilterResponse& answer);
/// Whether a sure play may have been dropped, and the answer says so.
bool SaysDropped(const Model& model, const Question& question, const FilterResponse& answer,
                 const std::string& item, int64_t bucket);

}  // namespace seendb::simulation
