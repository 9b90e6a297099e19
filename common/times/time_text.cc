#include "times/time_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace seendb::times {
namespace {

constexpr int64_t kFirstMillis = 100'000'000'000, kFirstMicros = kFirstMillis * 1'000,
                  kFirstNanos = kFirstMicros * 1'000;
constexpr size_t kDayDigits = 8, kSecondDigits = 14;  // 20261125, 20261125093119
constexpr int64_t kLastMs = 253'402'300'799'999;      // 9999-12-31T23:59:59.999Z

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

/// `basic`: without dashes, and the T too may be absent.
std::optional<TimeRead> ReadDate(std::string_view text, bool basic, const TimeZone& zone) {
  const auto year = TakeNumber(&text, 4);
  if (!year || (!basic && !TakeChar(&text, '-'))) return std::nullopt;
  const auto month = TakeNumber(&text, 2);
  if (!month || (!basic && !TakeChar(&text, '-'))) return std::nullopt;
  const auto day = TakeNumber(&text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  int64_t ms = std::chrono::sys_days(date).time_since_epoch().count() * 86'400'000LL;
  const bool clock = TakeChar(&text, 'T') || TakeChar(&text, 't') || TakeChar(&text, ' ');
  if (clock || (basic && !text.empty())) {
    const bool colons = text.size() > 2 && text[2] == ':';
    const auto clock_ms = TakeClockMs(&text, !colons);
    if (!clock_ms) return std::nullopt;
    ms += *clock_ms;
    while (TakeChar(&text, ' ')) continue;
    if (!text.empty()) {
      const auto east_ms = TakeZoneMs(&text);
      if (!east_ms || !text.empty() || !InRange(ms - *east_ms)) return std::nullopt;
      return TimeRead{ms - *east_ms, false};
    }
  }
  if (!text.empty()) return std::nullopt;
  ms = zone.ToUtcMs(ms);
  return InRange(ms) ? std::optional(TimeRead{ms, true}) : std::nullopt;
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
  if (text.size() >= 10 && text[4] == '-') return ReadDate(text, /*basic=*/false, form.zone);
  if (text.size() > kDayDigits && (text[kDayDigits] == 'T' || text[kDayDigits] == 't')) {
    return ReadDate(text, /*basic=*/true, form.zone);
  }
  if (form.unit == TimeUnit::kAuto) {
    if (const auto read = DateOfDigits(text, form.zone)) return read;
  }
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
