// format/day_key.h: keys of the family `users` under which the last active day of a user in a
// collection lies: `FF`, the size of the user, the user, the collection. No user's text begins with
// `FF`, so they come after all user records.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace seendb {

/// Where the day keys begin.
inline constexpr char kDayKeys = '\xff';
inline bool IsDayKey(std::string_view key) { return !key.empty() && key.front() == kDayKeys; }

/// What the day keys of a user begin with, and where they end. Precondition: 1-255 bytes.
std::string DayKeyPrefix(std::string_view user);
std::string DayKeyEnd(std::string_view user);
/// One day key.
std::string DayKey(std::string_view user, std::string_view collection);
/// Its parts, views into it; false where it is none.
bool ParseDayKey(std::string_view key, std::string_view* user, std::string_view* collection);

}  // namespace seendb
