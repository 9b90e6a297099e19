// times/time_zone.h: what the clocks of a place show: local times are turned into UTC.
//
// Zones by name are the system's (IANA's database in /usr/share/zoneinfo), read through Howard
// Hinnant's date library.

#pragma once

#include <cstdint>
#include <string>

#include "seendb/status.h"

namespace date {
class time_zone;
}

namespace seendb::times {

/// See the head of this file. Threads: plain values, any.
class TimeZone {
 public:
  /// UTC.
  TimeZone() = default;
  /// A zone that is always so far east of UTC.
  static TimeZone Fixed(int64_t east_ms);
  /// "America/Los_Angeles", "UTC" or "+05:30". kInvalidArgument: the system knows none of that
  /// name. Cost: the first name reads the list of zones.
  static Result<TimeZone> Named(const std::string& name);

  /// Milliseconds since 1970 UTC of the moment at which clocks there show `local_ms`, counted since
  /// 1970 as if they showed UTC. What they show twice in autumn is the first of the two; what they
  /// never show in spring is the moment of the change.
  int64_t ToUtcMs(int64_t local_ms) const;
  /// As Named takes it.
  const std::string& name() const { return name_; }

 private:
  const date::time_zone* zone_ = nullptr;  // null: fixed; lives as long as the process
  int64_t east_ms_ = 0;
  std::string name_ = "UTC";
};

}  // namespace seendb::times
