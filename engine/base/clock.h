// engine/base/clock.h: where the engine gets the time of day, so that tests can move it.

#pragma once

#include <cstdint>

namespace seendb {

/// A source of the time of day. Threads: NowMs may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Milliseconds since 1970 UTC.
  virtual int64_t NowMs() const = 0;
};

/// The clocks of a machine: the time of day, which may be set wrongly, and the time since its boot.
class MachineClock : public Clock {
 public:
  /// Milliseconds since the boot, suspensions included (CLOCK_BOOTTIME). Nobody sets it.
  virtual int64_t BootMs() const = 0;
};

/// Those of this machine.
const MachineClock* SystemClock();

}  // namespace seendb
