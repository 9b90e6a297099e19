// The calendar of buckets. Civil dates are proleptic Gregorian; a year here begins in March, so
// that the leap day is its last, and an era is the 400 years after which the calendar repeats.

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/durations.h"
#include "seendb/policy.h"

namespace seendb {
namespace {

constexpr int64_t kDaysPerEra = 146'097;
/// Days from 0000-03-01 to 1970-01-01.
constexpr int64_t kEpochDay = 719'468;

/// Buckets whose edges are further away than this many days from 1970 lie outside int64 ms.
constexpr int64_t kMaxDay = std::numeric_limits<int64_t>::max() / kMsPerDay - 1;

constexpr int64_t FloorDiv(int64_t a, int64_t b) noexcept {
  return a / b - static_cast<int64_t>((a % b != 0) && ((a < 0) != (b < 0)));
}

/// Days since 1970-01-01 in the policy's time zone.
int64_t LocalDayOf(const Policy& policy, int64_t at_ms) noexcept {
  int64_t local_ms = 0;
  if (__builtin_add_overflow(at_ms, policy.utc_offset_minutes * kMsPerMinute, &local_ms)) {
    local_ms = at_ms;  // within a day of the ends of time, where no bucket is kept
  }
  return FloorDiv(local_ms, kMsPerDay);
}

/// Months since January of year 0 of a day since 1970-01-01.
int64_t MonthOfDay(int64_t day) noexcept {
  const int64_t shifted = day + kEpochDay;
  const int64_t era = FloorDiv(shifted, kDaysPerEra);
  const auto day_of_era = static_cast<uint32_t>(shifted - era * kDaysPerEra);
  const uint32_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const uint32_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint32_t month_from_march = (5 * day_of_year + 2) / 153;
  // March is the third month of its civil year: 2 more than January's 0.
  return (era * 400 + year_of_era) * 12 + month_from_march + 2;
}

/// The first day, since 1970-01-01, of a month since January of year 0.
int64_t DayOfMonth(int64_t month) noexcept {
  const int64_t from_march = month - 2;
  const int64_t year = FloorDiv(from_march, 12);
  const int64_t month_of_year = from_march - year * 12;
  const int64_t era = FloorDiv(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * month_of_year + 2) / 5;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kEpochDay;
}

int64_t DaysOf(const Policy& policy) noexcept { return std::max<int64_t>(policy.bucket.days, 1); }

/// The first day of a bucket since 1970-01-01, within what a time in ms can say.
int64_t FirstDayOf(const Policy& policy, int64_t index) noexcept {
  if (policy.bucket.kind == BucketKind::kMonth) {
    const int64_t max_month = kMaxDay / 31;
    return DayOfMonth(std::clamp(index, -max_month, max_month));
  }
  const int64_t max_index = kMaxDay / DaysOf(policy);
  return std::clamp(index, -max_index, max_index) * DaysOf(policy);
}

/// Reads `digits` decimal digits at the front of `*text` and removes them; -1 where they are not.
int64_t TakeDigits(std::string_view* text, size_t digits) noexcept {
  if (text->size() < digits) return -1;
  int64_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    const char c = (*text)[i];
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  text->remove_prefix(digits);
  return value;
}

bool TakeDash(std::string_view* text) noexcept {
  if (text->empty() || text->front() != '-') return false;
  text->remove_prefix(1);
  return true;
}

/// A policy whose buckets are single days.
Policy Daily() {
  Policy policy;
  policy.bucket = {BucketKind::kDays, 1};
  return policy;
}

Status NoSuchLabel(const Policy& policy, std::string_view label) {
  const char* shape = policy.bucket.kind == BucketKind::kMonth ? "a month like 2026-11"
                                                               : "a first day like 2026-11-20";
  return Status::InvalidArgument("bucket \"" + std::string(label) + "\" is not " + shape);
}

}  // namespace

int64_t BucketIndexOf(const Policy& policy, int64_t at_ms) noexcept {
  const int64_t day = LocalDayOf(policy, at_ms);
  if (policy.bucket.kind == BucketKind::kMonth) return MonthOfDay(day);
  return FloorDiv(day, DaysOf(policy));
}

int64_t DayOf(const Policy& policy, int64_t at_ms) noexcept { return LocalDayOf(policy, at_ms); }

std::string DayText(int64_t day) { return BucketLabel(Daily(), day); }

Result<int64_t> DayOfText(std::string_view text) {
  const Result<int64_t> day = BucketIndexOfLabel(Daily(), text);
  if (day.ok()) return day;
  return Status::InvalidArgument("must be a day like 2026-11-20");
}

int64_t BucketBeginMs(const Policy& policy, int64_t bucket_index) noexcept {
  return FirstDayOf(policy, bucket_index) * kMsPerDay - policy.utc_offset_minutes * kMsPerMinute;
}

std::string BucketLabel(const Policy& policy, int64_t bucket_index) {
  const int64_t first_day = FirstDayOf(policy, bucket_index);
  const int64_t month = MonthOfDay(first_day);
  const int64_t year = FloorDiv(month, 12);
  const auto month_of_year = static_cast<int>(month - year * 12) + 1;
  char label[48];
  int size = 0;
  if (policy.bucket.kind == BucketKind::kMonth) {
    size = std::snprintf(label, sizeof(label), "%04lld-%02d", static_cast<long long>(year),
                         month_of_year);
  } else {
    const auto day_of_month = static_cast<int>(first_day - DayOfMonth(month)) + 1;
    size = std::snprintf(label, sizeof(label), "%04lld-%02d-%02d", static_cast<long long>(year),
                         month_of_year, day_of_month);
  }
  return {label, static_cast<size_t>(size)};
}

Result<int64_t> BucketIndexOfLabel(const Policy& policy, std::string_view label) {
  std::string_view rest = label;
  const int64_t year = TakeDigits(&rest, 4);
  if (year < 0 || !TakeDash(&rest)) return NoSuchLabel(policy, label);
  const int64_t month_of_year = TakeDigits(&rest, 2);
  if (month_of_year < 1 || month_of_year > 12) return NoSuchLabel(policy, label);
  const int64_t month = year * 12 + month_of_year - 1;
  if (policy.bucket.kind == BucketKind::kMonth) {
    if (!rest.empty()) return NoSuchLabel(policy, label);
    return month;
  }
  if (!TakeDash(&rest)) return NoSuchLabel(policy, label);
  const int64_t day_of_month = TakeDigits(&rest, 2);
  if (day_of_month < 1 || !rest.empty()) return NoSuchLabel(policy, label);
  const int64_t day = DayOfMonth(month) + day_of_month - 1;
  const int64_t index = FloorDiv(day, DaysOf(policy));
  if (day >= DayOfMonth(month + 1) || index * DaysOf(policy) != day) {
    return NoSuchLabel(policy, label);
  }
  return index;
}

}  // namespace seendb
