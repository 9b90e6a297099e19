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

/// The clock of the machine.
const Clock* SystemClock();

}  // namespace seendb
