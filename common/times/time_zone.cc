#include "times/time_zone.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>

#include <date/tz.h>

#include "times/time_text.h"

namespace seendb::times {

TimeZone TimeZone::Fixed(int64_t east_ms) {
  TimeZone zone;
  zone.east_ms_ = east_ms;
  if (east_ms == 0) return zone;
  const int64_t minutes = (east_ms < 0 ? -east_ms : east_ms) / 60'000;
  char name[16];
  std::snprintf(name, sizeof name, "%c%02d:%02d", east_ms < 0 ? '-' : '+',
                static_cast<int>(minutes / 60 % 100), static_cast<int>(minutes % 60));
  zone.name_ = name;
  return zone;
}

Result<TimeZone> TimeZone::Named(const std::string& name) {
  if (const std::optional<int64_t> east_ms = ParseOffsetMs(name)) return Fixed(*east_ms);
  try {
    TimeZone zone;
    zone.zone_ = date::locate_zone(name);
    zone.zone_->get_info(date::sys_seconds());  // its file is read now, or fails now
    zone.name_ = name;
    return zone;
  } catch (const std::runtime_error&) {
    return Status::InvalidArgument(
        "\"" + name +
        "\" is no time zone of this system: name one of its database, as Europe/Berlin (Debian's "
        "package tzdata), UTC, or hours east of it, as +05:30");
  }
}

int64_t TimeZone::ToUtcMs(int64_t local_ms) const {
  if (zone_ == nullptr) return local_ms - east_ms_;
  const date::local_time<std::chrono::milliseconds> local{std::chrono::milliseconds(local_ms)};
  return zone_->to_sys(local, date::choose::earliest).time_since_epoch().count();
}

}  // namespace seendb::times
