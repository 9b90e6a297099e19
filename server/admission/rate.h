// server/admission/rate.h: how much of something one may have a second.

#pragma once

#include <atomic>
#include <cstdint>

#include "admission/ticket.h"

namespace seendb::admission {

/// A bucket that a second fills, and that may be overdrawn by what is only known afterwards.
/// Threads: any. Cost: one compare-and-swap.
class Rate {
 public:
  /// From now on so many units a second, a second's worth at once; 0: no limit.
  void Set(double per_s);
  /// Takes one unit at `now`; if there is none, `*wait` says when there is.
  bool Take(Time now, Duration* wait);
  /// Whether no more than a second's worth is owed; if more is, `*wait` says when that is over.
  bool Ready(Time now, Duration* wait) const;
  /// Charges units that were used: later takers wait until the rate has caught up, 15 minutes at
  /// most.
  void Charge(double units, Time now);

 private:
  std::atomic<double> unit_ns_{0};  // between two units; 0: no limit
  std::atomic<int64_t> due_ns_{0};  // when all that was had would have been at that rate
};

}  // namespace seendb::admission
