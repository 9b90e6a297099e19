#include "time_parse.h"

#include <charconv>
#include <chrono>

namespace seendb::tool {
namespace {

constexpr int64_t kFirstMillis = 100'000'000'000;
constexpr int64_t kLastMs = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

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

/// Takes ".123456" off the front, as milliseconds; 0 where there is none. Nothing for ".".
std::optional<int64_t> TakeFractionMs(std::string_view* text) {
  if (!TakeChar(text, '.')) return 0;
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

std::optional<int64_t> ParseNumber(std::string_view text, TimeUnit unit) {
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc() || whole < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  const auto fraction_ms = TakeFractionMs(&text);
  if (!fraction_ms || !text.empty()) return std::nullopt;
  if (unit == TimeUnit::kAuto) {
    unit = whole < kFirstMillis ? TimeUnit::kSeconds : TimeUnit::kMillis;
  }
  if (unit == TimeUnit::kMillis) return InRange(whole);
  if (whole > kLastMs / 1000) return std::nullopt;
  return InRange(whole * 1000 + *fraction_ms);
}

/// "Z", "+08:00", "+0800" or nothing, in milliseconds east of UTC.
std::optional<int64_t> TakeZoneMs(std::string_view* text) {
  if (text->empty() || TakeChar(text, 'Z')) return 0;
  const int64_t sign = text->front() == '-' ? -1 : 1;
  if (!TakeChar(text, '+') && !TakeChar(text, '-')) return std::nullopt;
  const auto hours = TakeNumber(text, 2);
  TakeChar(text, ':');
  const auto minutes = TakeNumber(text, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes) * 60'000;
}

/// "09:31", "09:31:19" or "09:31:19.123", in milliseconds.
std::optional<int64_t> TakeClockMs(std::string_view* text) {
  const auto hour = TakeNumber(text, 2);
  if (!hour || !TakeChar(text, ':')) return std::nullopt;
  const auto minute = TakeNumber(text, 2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  int64_t ms = (*hour * 60 + *minute) * 60'000;
  if (!TakeChar(text, ':')) return ms;
  const auto second = TakeNumber(text, 2);
  const auto fraction_ms = second ? TakeFractionMs(text) : std::nullopt;
  if (!fraction_ms || *second > 60) return std::nullopt;
  return ms + *second * 1000 + *fraction_ms;
}

std::optional<int64_t> ParseIso(std::string_view text) {
  const auto year = TakeNumber(&text, 4);
  if (!year || !TakeChar(&text, '-')) return std::nullopt;
  const auto month = TakeNumber(&text, 2);
  if (!month || !TakeChar(&text, '-')) return std::nullopt;
  const auto day = TakeNumber(&text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  int64_t ms = std::chrono::sys_days(date).time_since_epoch().count() * 86'400'000LL;
  if (TakeChar(&text, 'T') || TakeChar(&text, ' ')) {
    const auto clock_ms = TakeClockMs(&text);
    const auto zone_ms = clock_ms ? TakeZoneMs(&text) : std::nullopt;
    if (!zone_ms) return std::nullopt;
    ms += *clock_ms - *zone_ms;
  }
  if (!text.empty()) return std::nullopt;
  return InRange(ms);
}

}  // namespace

std::optional<int64_t> ParseTimeMs(std::string_view text, TimeUnit unit) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.empty() || !IsDigit(text.front())) return std::nullopt;
  if (text.size() >= 10 && text[4] == '-') return ParseIso(text);
  return ParseNumber(text, unit);
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

}  // namespace seendb::tool
