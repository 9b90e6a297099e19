// server/admission/overload.h: whether a lane is overloaded, and what may wait in it.
//
// Under overload is a lane whose queue was never empty for an interval (or for as long as what came
// has the patience to wait, where that is more) while more than 80% of its
// capacity is asked of it. It is over once less than 80% is asked, or less than 95% and the queue
// was emptied by work (so that two thresholds and an interval lie between two changes).
//
// The targets follow the work: s^ = E[s^2]/E[s] is the service time that an arriving request finds
// under way; L = max(target, 4 s^) may wait under overload, I = max(interval, 20 s^) is the
// interval.

#pragma once

#include <cstdint>

#include "admission/settings.h"
#include "admission/ticket.h"

namespace seendb::admission {

/// What is asked of a lane by what it can do, as a mean over 100 ms that forgets exponentially.
class LoadMeter {
 public:
  /// Work that came, whether or not it is taken. `parallel`: threads that do it.
  void Offer(Duration work, size_t parallel, Time now);
  /// 1: as much as it can do.
  double At(Time now) const;
  /// `load` as of `then`, later.
  static double Decayed(double load, Time then, Time now);

 private:
  double load_ = 0;
  Time at_{};
};

/// See the head of this file. Threads: one at a time.
class OverloadState {
 public:
  /// `target` is that of the lane: Settings::target_ms or disk_target_ms.
  void Set(Duration target, Duration interval) {
    target_ = target;
    interval_ = interval;
  }
  /// A request came that may wait so long while there is no overload: on the mean of them, an
  /// episode begins no sooner.
  void Came(Duration patience);
  /// A request took so long.
  void Served(Duration took);
  /// The queue was empty when a request came, or is empty now, after work.
  void CameToEmpty(Time now) { last_empty_ = now; }
  void Emptied(Time now) { last_empty_ = emptied_ = now; }
  /// The state, renewed. True at once with the beginning of an episode. An empty queue never begins
  /// one.
  bool Renew(bool queue_empty, double load, Time now);

  bool over() const { return over_; }
  /// Of the episode under way.
  Time since() const { return since_; }
  /// L and I.
  Duration Limit() const;
  Duration Interval() const;
  /// E[s].
  Duration MeanCost() const;

 private:
  double SizeBiasedNs() const;  // s^

  Duration target_{}, interval_{};
  double served_ = 0;       // up to the memory of the means
  double s1_ = 0, s2_ = 0;  // means of the service time and of its square, in ns
  double patience_ = 0;     // mean, in ns
  bool over_ = false;
  Time since_{}, last_empty_{}, emptied_{};
};

}  // namespace seendb::admission
