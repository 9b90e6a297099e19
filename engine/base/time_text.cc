#include "base/time_text.h"

#include <chrono>
#include <cstdio>

#include "seendb/policy.h"

namespace seendb {

std::string TimeText(int64_t at_ms) {
  const std::string number = std::to_string(at_ms);
  if (at_ms < kFirstTimeMs || at_ms > kLastTimeMs) return number;
  return number + " (" + DateText(at_ms, 'T') + "Z)";
}

std::string DateText(int64_t at_ms, char between) {
  using std::chrono::days;
  using std::chrono::milliseconds;
  const std::chrono::sys_time<milliseconds> time{milliseconds(at_ms)};
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<milliseconds> clock(time - day);
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u%c%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), between,
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  char fraction[8] = "";
  const auto ms = static_cast<int>(clock.subseconds().count());
  if (ms != 0) std::snprintf(fraction, sizeof fraction, ".%03d", ms);
  return std::string(text) + fraction;
}

}  // namespace seendb
