// call_time.h: whether a time that a call brings is one at which it may take effect.

#pragma once

#include <cstdint>

#include "seendb/history.h"
#include "seendb/status.h"

namespace seendb {

/// kInvalidArgument ("/at_ms") where it is not: see CallTime. `now_ms`: what the clock shows, which
/// may be no time of the calendar either.
Status CheckTime(const CallTime& at, int64_t now_ms);

}  // namespace seendb
