// seendb/time_parse.h: event times as logs write them.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace seendb::tool {

/// What a bare number means.
enum class TimeUnit {
  kAuto,     ///< seconds below 100,000,000,000 (the year 5138), milliseconds from there on
  kSeconds,  ///< seconds since 1970 UTC, fractions allowed
  kMillis,   ///< milliseconds since 1970 UTC, a fraction is cut off
};

/// Milliseconds since 1970 UTC from a decimal number, or from ISO 8601
/// (`2026-11-21T09:31:19.123+08:00`, a space for the T, date alone, no zone: UTC).
/// Nothing for anything else, negative numbers and times beyond the year 9999 included.
std::optional<int64_t> ParseTimeMs(std::string_view text, TimeUnit unit);

/// A signed span of time: "500ms", "30s", "10m", "24h", "7d"; a bare number is zero.
std::optional<int64_t> ParseSpanMs(std::string_view text);

}  // namespace seendb::tool
