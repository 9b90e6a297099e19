#include "base/duration_text.h"

#include <charconv>

#include "base/durations.h"

namespace seendb {
namespace {

struct DurationUnit {
  std::string_view suffix;
  int64_t ms;
};
// Longest first: a duration is written in the largest unit that divides it.
constexpr DurationUnit kDurationUnits[] = {
    {"d", kMsPerDay}, {"h", 3'600'000}, {"m", kMsPerMinute}, {"s", 1'000}, {"ms", 1}};

}  // namespace

std::string DurationText(int64_t ms) {
  for (const DurationUnit& unit : kDurationUnits) {
    // Days only from two on: "24h" is how people say a day here.
    if (ms % unit.ms == 0 && ms >= (unit.suffix == "d" ? 2 * unit.ms : unit.ms)) {
      return std::to_string(ms / unit.ms).append(unit.suffix);
    }
  }
  return "0s";
}

std::optional<int64_t> DurationOfText(std::string_view text) {
  int64_t count = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  for (const DurationUnit& unit : kDurationUnits) {
    if (text != unit.suffix) continue;
    int64_t ms = 0;
    if (__builtin_mul_overflow(count, unit.ms, &ms)) return std::nullopt;
    return ms;
  }
  return std::nullopt;
}

}  // namespace seendb
