// seendb/units.h: numbers as people read them: thousands, KiB/MiB, percentages, dates.

#pragma once

#include <cstdint>
#include <string>

namespace seendb::tool {

/// "1,234,567".
std::string FormatCount(uint64_t n);
/// "512 B", "1.5 KiB", "20.0 MiB": binary units, one decimal above bytes.
std::string FormatBytes(uint64_t bytes);
/// "812,345/s"; below ten with one decimal.
std::string FormatRate(double per_second);
/// A fraction as "0.25%", "12.5%": three significant digits, at most four decimals.
std::string FormatPercent(double fraction);
/// "2026-11-21 09:31:19" UTC, with ".123" where milliseconds are not zero. "-" for 0.
std::string FormatTimeMs(int64_t ms);
/// "35 us", "1.2 ms", "2.5 s", "3 min 20 s", "2 h 5 min".
std::string FormatDurationUs(double us);

}  // namespace seendb::tool
