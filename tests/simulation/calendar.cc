#include "simulation/calendar.h"

#include <chrono>
#include <cstdio>

namespace seendb::simulation {
namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

sys_days LocalDay(const Policy& policy, int64_t at_ms) {
  const auto since = milliseconds(at_ms) + minutes(policy.utc_offset_minutes);
  return sys_days(floor<days>(since));
}

sys_days FirstDayOf(const Policy& policy, int64_t bucket) {
  if (policy.bucket.kind == BucketKind::kDays) return sys_days(days(bucket * policy.bucket.days));
  const auto in_year = static_cast<unsigned>(bucket % 12) + 1;
  return sys_days(year_month_day(year(static_cast<int>(bucket / 12)), month(in_year), day(1)));
}

}  // namespace

int64_t BucketAt(const Policy& policy, int64_t at_ms) {
  const sys_days local = LocalDay(policy, at_ms);
  if (policy.bucket.kind == BucketKind::kDays) {
    // Simulated time begins well after 1970.
    return local.time_since_epoch().count() / policy.bucket.days;
  }
  const year_month_day date(local);
  return static_cast<int>(date.year()) * int64_t{12} + static_cast<unsigned>(date.month()) - 1;
}

int64_t FirstMsOf(const Policy& policy, int64_t bucket) {
  const auto since = FirstDayOf(policy, bucket).time_since_epoch();
  return (milliseconds(since) - minutes(policy.utc_offset_minutes)).count();
}

std::string NameOf(const Policy& policy, int64_t bucket) {
  const year_month_day date(FirstDayOf(policy, bucket));
  const int y = static_cast<int>(date.year());
  const auto m = static_cast<unsigned>(date.month());
  char name[40];
  if (policy.bucket.kind == BucketKind::kDays) {
    std::snprintf(name, sizeof(name), "%04d-%02u-%02u", y, m, static_cast<unsigned>(date.day()));
  } else {
    std::snprintf(name, sizeof(name), "%04d-%02u", y, m);
  }
  return name;
}

std::string DayNameAt(const Policy& policy, int64_t at_ms) {
  Policy daily = policy;
  daily.bucket = {BucketKind::kDays, 1};
  return NameOf(daily, BucketAt(daily, at_ms));
}

}  // namespace seendb::simulation
