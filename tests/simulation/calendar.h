// tests/simulation/calendar.h: window arithmetic for the model, worked out with <chrono> and on its
// own, so that a slip of the engine's calendar shows.

#pragma once

#include <cstdint>
#include <string>

#include "seendb/policy.h"

namespace seendb::simulation {

/// The bucket a time falls into: months since year 0, or runs of days since 1970.
int64_t BucketAt(const Policy& policy, int64_t at_ms);
/// The first millisecond of a bucket.
int64_t FirstMsOf(const Policy& policy, int64_t bucket);
/// "2026-11" or "2026-11-20".
std::string NameOf(const Policy& policy, int64_t bucket);
/// The day a time falls into, "2026-11-20".
std::string DayNameAt(const Policy& policy, int64_t at_ms);

}  // namespace seendb::simulation
