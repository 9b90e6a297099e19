#include "call_time.h"

#include <string>

#include "base/clock_guard.h"
#include "base/time_text.h"
#include "seendb/policy.h"

namespace seendb {

Status CheckTime(const CallTime& at, int64_t now_ms) {
  const int64_t at_ms = at.ms.value_or(now_ms);
  const bool of_calendar = at_ms >= kFirstTimeMs && at_ms <= kLastTimeMs;
  if (!at.ms) return of_calendar ? Status() : CheckCalendar(now_ms);
  if (!of_calendar) {
    return Status::InvalidArgument(
        std::to_string(at_ms) + " is no time of the years 1 to 9998, in ms since 1970", "/at_ms");
  }
  if (at.of_log || at_ms - kMostAheadMs <= now_ms) return {};
  return Status::InvalidArgument(TimeText(at_ms) + " lies more than an hour ahead of the " +
                                     "clock, which shows " + TimeText(now_ms),
                                 "/at_ms");
}

}  // namespace seendb
