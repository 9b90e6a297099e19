// times/time_text.h: event times as logs, topics and old stores write them.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "times/time_zone.h"

namespace seendb::times {

/// What a bare number means.
enum class TimeUnit {
  kAuto,     ///< a day or second where its digits are one (20261125, 20261125093119); else seconds
             ///< below 10^11 (the year 5138), milliseconds below 10^14, microseconds below 10^17,
             ///< nanoseconds from there on
  kSeconds,  ///< seconds since 1970 UTC, fractions allowed
  kMillis,   ///< milliseconds since 1970 UTC; here and below a fraction is cut off
  kMicros,   ///< microseconds
  kNanos,    ///< nanoseconds
};

/// In which order the numbers of a date stand that does not begin with a year of four digits.
enum class DateOrder {
  kUnsaid,        ///< such dates are no times: 01/02/2024 may be in January or in February
  kDayMonthYear,  ///< 31/12/2024, 31.12.24
  kMonthDayYear,  ///< 12/31/2024, 12/31/24
  kYearMonthDay,  ///< 24-12-31
};

/// How times are written where nothing else is said.
struct TimeForm {
  TimeUnit unit = TimeUnit::kAuto;
  TimeZone zone = {};  ///< of dates that name none
  DateOrder order = DateOrder::kUnsaid;
};

/// A time that was read.
struct TimeRead {
  int64_t at_ms = 0;   ///< since 1970 UTC
  bool local = false;  ///< a date without a zone: TimeForm::zone was taken
};

/// Milliseconds since 1970 UTC from a decimal number, or from a date as ISO 8601 and databases
/// write it: `2026-11-21T09:31:19.123+08:00` (or `,123`), `20261121T093119Z`, with a space or "t"
/// for the T, a date alone, zones `Z`, `UTC`, `GMT`, `+08`, `+0800`, `+08:00`, behind a blank too;
/// `2026/11/21 9:31`, and with an order `11/21/26, 9:31 AM` and `21.11.2026`.
/// Nothing for anything else, negative numbers and times beyond the year 9999 included.
std::optional<TimeRead> ReadTime(std::string_view text, const TimeForm& form);
/// The same where it does not matter what was said.
std::optional<int64_t> ParseTimeMs(std::string_view text, const TimeForm& form = {});

/// "Z", "UTC", "GMT", "+08", "+0800" or "+08:00", in milliseconds east of UTC.
std::optional<int64_t> ParseOffsetMs(std::string_view text);

/// A signed span of time: "500ms", "30s", "10m", "24h", "7d"; a bare number is zero.
std::optional<int64_t> ParseSpanMs(std::string_view text);

}  // namespace seendb::times
