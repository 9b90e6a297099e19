// base/time_text.h: a time for people, in messages and tables.

#pragma once

#include <cstdint>
#include <string>

namespace seendb {

/// "1773144000000 (2026-03-10T12:00:00Z)": ms since 1970 UTC, as programs have them, and a date,
/// with milliseconds where they are not zero. Outside the years 1 to 9998 the number alone.
std::string TimeText(int64_t at_ms);
/// "2026-03-10T12:00:00", UTC, with milliseconds where they are not zero; `between`: 'T'.
std::string DateText(int64_t at_ms, char between);

}  // namespace seendb
