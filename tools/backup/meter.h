// backup/meter.h: how fast a backup reads, and whether it is to end.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "pace.h"
#include "seendb/status.h"

namespace seendb::backup {

/// Threads: one.
class Meter {
 public:
  /// `bytes_per_s`: at most; 0: no limit. `cancelled` is asked about every 100 ms.
  Meter(double bytes_per_s, std::function<bool()> cancelled);

  /// Waits until so many bytes may be read. kUnavailable: it was cancelled.
  Status Take(uint64_t bytes);
  /// Waits for so long. kUnavailable: it was cancelled.
  Status Wait(std::chrono::duration<double> wait) const;
  bool cancelled() const { return cancelled_(); }
  /// All that was taken so far.
  uint64_t bytes() const { return bytes_; }

 private:
  const std::function<bool()> cancelled_;
  tool::Pace pace_;
  uint64_t bytes_ = 0;
};

}  // namespace seendb::backup
