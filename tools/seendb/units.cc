#include "units.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/time_text.h"

namespace seendb::tool {
namespace {

template <typename... Args>
std::string Print(const char* format, Args... args) {
  std::array<char, 64> buffer;
  const int n = std::snprintf(buffer.data(), buffer.size(), format, args...);
  return {buffer.data(), static_cast<size_t>(n)};
}

}  // namespace

std::string FormatCount(uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string FormatBytes(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1,023.95 would print as 1024.0 of the smaller unit.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return Print("%.1f %s", value, kUnits[unit]);
}

std::string FormatRate(double per_second) {
  if (!(per_second > 0)) return "0/s";
  if (per_second < 10) return Print("%.1f/s", per_second);
  return FormatCount(static_cast<uint64_t>(std::llround(per_second))) + "/s";
}

std::string FormatPercent(double fraction) {
  const double percent = fraction * 100;
  if (percent == 0) return "0%";
  if (percent >= 100) return Print("%.0f%%", percent);
  if (percent >= 10) return Print("%.1f%%", percent);
  if (percent >= 1) return Print("%.2f%%", percent);
  if (percent >= 0.1) return Print("%.3f%%", percent);
  if (percent >= 0.0001) return Print("%.4f%%", percent);
  return "<0.0001%";
}

std::string FormatTimeMs(int64_t ms) { return ms == 0 ? "-" : DateText(ms, ' '); }

std::string FormatDurationUs(double us) {
  if (us < 1000) return Print("%.0f us", us);
  if (us < 1e6) return Print("%.1f ms", us / 1e3);
  if (us < 60e6) return Print("%.1f s", us / 1e6);
  const auto seconds = static_cast<uint64_t>(us / 1e6);
  if (seconds < 3600)
    return Print("%d min %d s", static_cast<int>(seconds / 60), static_cast<int>(seconds % 60));
  return FormatCount(seconds / 3600) + Print(" h %d min", static_cast<int>(seconds / 60 % 60));
}

}  // namespace seendb::tool
