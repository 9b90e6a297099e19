#include "times/time_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>

namespace seendb::times {
namespace {

constexpr int64_t kFirstMillis = 100'000'000'000, kFirstMicros = kFirstMillis * 1'000,
                  kFirstNanos = kFirstMicros * 1'000;
constexpr size_t kDayDigits = 8, kSecondDigits = 14;  // 20261125, 20261125093119
constexpr int64_t kLastMs = 253'402'300'799'999;      // 9999-12-31T23:59:59.999Z

constexpr std::string_view kDigits = "0123456789";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Takes exactly `digits` digits off the front.
std::optional<int> TakeNumber(std::string_view* text, size_t digits) {
  if (text->size() < digits) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (!IsDigit((*text)[i])) return std::nullopt;
    value = value * 10 + ((*text)[i] - '0');
  }
  text->remove_prefix(digits);
  return value;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

/// Takes ".123456" off the front, as milliseconds; 0 where there is none. Nothing for ".". In a
/// date the point may be a comma.
std::optional<int64_t> TakeFractionMs(std::string_view* text, bool of_date) {
  if (!TakeChar(text, '.') && !(of_date && TakeChar(text, ','))) return 0;
  if (text->empty() || !IsDigit(text->front())) return std::nullopt;
  int64_t ms = 0;
  for (int64_t unit = 100; !text->empty() && IsDigit(text->front()); unit /= 10) {
    ms += (text->front() - '0') * unit;
    text->remove_prefix(1);
  }
  return ms;
}

std::optional<int64_t> InRange(int64_t ms) {
  if (ms < 0 || ms > kLastMs) return std::nullopt;
  return ms;
}

/// How many of the unit are a millisecond.
int64_t PerMs(TimeUnit unit) {
  if (unit == TimeUnit::kMicros) return 1'000;
  return unit == TimeUnit::kNanos ? 1'000'000 : 1;
}

/// The unit of a number that does not say it.
TimeUnit UnitOf(int64_t number) {
  if (number < kFirstMillis) return TimeUnit::kSeconds;
  if (number < kFirstMicros) return TimeUnit::kMillis;
  return number < kFirstNanos ? TimeUnit::kMicros : TimeUnit::kNanos;
}

std::optional<int64_t> ParseNumber(std::string_view text, TimeUnit unit) {
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc() || whole < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  const auto fraction_ms = TakeFractionMs(&text, false);
  if (!fraction_ms || !text.empty()) return std::nullopt;
  if (unit == TimeUnit::kAuto) unit = UnitOf(whole);
  if (unit != TimeUnit::kSeconds) return InRange(whole / PerMs(unit));
  if (whole > kLastMs / 1000) return std::nullopt;
  return InRange(whole * 1000 + *fraction_ms);
}

/// Takes a zone off the front, in milliseconds east of UTC.
std::optional<int64_t> TakeZoneMs(std::string_view* text) {
  if (TakeChar(text, 'Z') || TakeChar(text, 'z')) return 0;
  if (text->starts_with("UTC") || text->starts_with("GMT")) {
    text->remove_prefix(3);
    return 0;
  }
  const int64_t sign = text->starts_with('-') ? -1 : 1;
  if (!TakeChar(text, '+') && !TakeChar(text, '-')) return std::nullopt;
  const auto hours = TakeNumber(text, 2);
  const bool more = TakeChar(text, ':') || !text->empty();
  const auto minutes = more ? TakeNumber(text, 2) : std::optional<int>(0);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes) * 60'000;
}

/// "09:31", "09:31:19" or "09:31:19.123", in milliseconds; with `basic`, "0931" or "093119".
std::optional<int64_t> TakeClockMs(std::string_view* text, bool basic) {
  const auto hour = TakeNumber(text, 2);
  if (!hour || (!basic && !TakeChar(text, ':'))) return std::nullopt;
  const auto minute = TakeNumber(text, 2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  const int64_t ms = (*hour * 60 + *minute) * 60'000;
  const bool seconds = basic ? !text->empty() && IsDigit(text->front()) : TakeChar(text, ':');
  if (!seconds) return ms;
  const auto second = TakeNumber(text, 2);
  const auto fraction_ms = second ? TakeFractionMs(text, true) : std::nullopt;
  if (!fraction_ms || *second > 60) return std::nullopt;
  return ms + *second * 1000 + *fraction_ms;
}

/// Milliseconds since 1970 of the day's beginning, as if clocks showed UTC; nothing: no such day.
std::optional<int64_t> DayMs(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * 86'400'000LL;
}

/// A date's time: of the zone that the rest names, or of `zone` where it names none.
std::optional<TimeRead> InZone(int64_t ms, std::string_view rest, const TimeZone& zone) {
  while (TakeChar(&rest, ' ')) continue;
  if (rest.empty()) {
    ms = zone.ToUtcMs(ms);
    return InRange(ms) ? std::optional(TimeRead{ms, true}) : std::nullopt;
  }
  const auto east_ms = TakeZoneMs(&rest);
  if (!east_ms || !rest.empty() || !InRange(ms - *east_ms)) return std::nullopt;
  return TimeRead{ms - *east_ms, false};
}

/// `basic`: without dashes, and the T too may be absent.
std::optional<TimeRead> ReadDate(std::string_view text, bool basic, const TimeZone& zone) {
  const auto year = TakeNumber(&text, 4);
  if (!year || (!basic && !TakeChar(&text, '-'))) return std::nullopt;
  const auto month = TakeNumber(&text, 2);
  if (!month || (!basic && !TakeChar(&text, '-'))) return std::nullopt;
  const auto day = TakeNumber(&text, 2);
  const auto ms = day ? DayMs(*year, *month, *day) : std::nullopt;
  if (!ms) return std::nullopt;
  const bool clock = TakeChar(&text, 'T') || TakeChar(&text, 't') || TakeChar(&text, ' ');
  if (!clock && (!basic || text.empty())) {
    return text.empty() ? InZone(*ms, {}, zone) : std::nullopt;
  }
  const bool colons = text.size() > 2 && text[2] == ':';
  const auto clock_ms = TakeClockMs(&text, !colons);
  return clock_ms ? InZone(*ms + *clock_ms, text, zone) : std::nullopt;
}

/// Takes one or more digits off the front, four at most; how many is in `*digits`.
std::optional<int> TakeDigits(std::string_view* text, size_t* digits) {
  *digits = 0;
  while (*digits < std::min<size_t>(4, text->size()) && IsDigit((*text)[*digits])) ++*digits;
  return *digits == 0 ? std::nullopt : TakeNumber(text, *digits);
}

/// "9:31 PM", "09:31:19": as TakeClockMs, with an hour of one digit or of half a day.
std::optional<int64_t> TakeOfficeClockMs(std::string_view* text) {
  constexpr int64_t kHalfDayMs = 12 * 3'600'000;
  std::string padded;
  if (text->size() > 1 && (*text)[1] == ':') padded = "0";
  padded.append(*text);
  std::string_view rest = padded;
  auto ms = TakeClockMs(&rest, /*basic=*/false);
  if (!ms) return std::nullopt;
  text->remove_prefix(text->size() - rest.size());
  std::string_view behind = *text;
  while (TakeChar(&behind, ' ')) continue;
  const std::string_view half = behind.substr(0, 2);
  const bool pm = half == "PM" || half == "pm";
  if (!pm && half != "AM" && half != "am") return ms;
  if (*ms < 3'600'000 || *ms >= kHalfDayMs + 3'600'000) return std::nullopt;  // 0:31 PM, 13:31 PM
  *text = behind.substr(2);
  return *ms % kHalfDayMs + (pm ? kHalfDayMs : 0);
}

/// A date of three numbers with '/', '.' or '-' between them, of which the first is a year of four
/// digits or `order` says which is which. Years of two digits are of this century.
std::optional<TimeRead> ReadNumbers(std::string_view text, DateOrder order, const TimeZone& zone) {
  std::array<int, 3> numbers = {};
  std::array<size_t, 3> digits = {};
  const size_t first = text.find_first_not_of(kDigits);
  const char between = first < text.size() ? text[first] : ' ';
  if (between != '/' && between != '.' && between != '-') return std::nullopt;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool there = i == 0 || TakeChar(&text, between);
    const auto number = there ? TakeDigits(&text, &digits[i]) : std::nullopt;
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  if (digits[0] == 4) {
    order = DateOrder::kYearMonthDay;
  } else if (order == DateOrder::kUnsaid) {
    return std::nullopt;
  }
  const size_t year = order == DateOrder::kYearMonthDay ? 0 : 2;
  const size_t month = order == DateOrder::kMonthDayYear ? 0 : 1;
  const size_t day = 3 - year - month;
  const bool long_year = digits[year] == 4;
  if ((!long_year && digits[year] != 2) || digits[month] > 2 || digits[day] > 2) {
    return std::nullopt;
  }
  const auto ms = DayMs(numbers[year] + (long_year ? 0 : 2000), numbers[month], numbers[day]);
  if (!ms) return std::nullopt;
  if (text.empty()) return InZone(*ms, {}, zone);
  TakeChar(&text, ',');
  if (!TakeChar(&text, ' ') && !TakeChar(&text, 'T')) return std::nullopt;
  const auto clock_ms = TakeOfficeClockMs(&text);
  return clock_ms ? InZone(*ms + *clock_ms, text, zone) : std::nullopt;
}

/// Of as many digits as a day or a second has, and of our times.
std::optional<TimeRead> DateOfDigits(std::string_view text, const TimeZone& zone) {
  const bool digits = std::all_of(text.begin(), text.end(), IsDigit);
  const bool may_be = text.size() == kDayDigits || text.size() == kSecondDigits;
  if (!digits || !may_be || (!text.starts_with("19") && !text.starts_with("20"))) {
    return std::nullopt;
  }
  return ReadDate(text, /*basic=*/true, zone);
}

}  // namespace

std::optional<TimeRead> ReadTime(std::string_view text, const TimeForm& form) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.empty() || !IsDigit(text.front())) return std::nullopt;
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const char behind = digits < text.size() ? text[digits] : ' ';
  if (digits == 4 && behind == '-') {
    if (const auto read = ReadDate(text, /*basic=*/false, form.zone)) return read;
  }
  if (digits == kDayDigits && (behind == 'T' || behind == 't')) {
    return ReadDate(text, /*basic=*/true, form.zone);
  }
  if (form.unit == TimeUnit::kAuto) {
    if (const auto read = DateOfDigits(text, form.zone)) return read;
  }
  if (const auto read = ReadNumbers(text, form.order, form.zone)) return read;
  const auto at_ms = ParseNumber(text, form.unit);
  return at_ms ? std::optional(TimeRead{*at_ms, false}) : std::nullopt;
}

std::optional<int64_t> ParseTimeMs(std::string_view text, const TimeForm& form) {
  const auto read = ReadTime(text, form);
  return read ? std::optional(read->at_ms) : std::nullopt;
}

std::optional<int64_t> ParseOffsetMs(std::string_view text) {
  const auto east_ms = TakeZoneMs(&text);
  return text.empty() ? east_ms : std::nullopt;
}

std::optional<int64_t> ParseSpanMs(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  int64_t unit_ms = 0;
  if (text == "ms" || (text.empty() && value == 0)) unit_ms = 1;
  if (text == "s") unit_ms = 1'000;
  if (text == "m") unit_ms = 60'000;
  if (text == "h") unit_ms = 3'600'000;
  if (text == "d") unit_ms = 86'400'000;
  if (unit_ms == 0 || value > kLastMs / unit_ms || value < -kLastMs / unit_ms) return std::nullopt;
  return value * unit_ms;
}

}  // namespace seendb::times
