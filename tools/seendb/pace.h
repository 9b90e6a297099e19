// seendb/pace.h: how fast an old store is read: at most at a given rate, and slower by itself where
// the store answers slowly.

#pragma once

#include <cstdint>

#include "base/sync.h"

namespace seendb::tool {

/// Threads: any. The caller tells the time, as seconds that only grow.
class Pace {
 public:
  /// `rate`: members per second at most; 0: no limit. `slow_ms`: an answer to a PING that takes
  /// longer is slow.
  Pace(double rate, double slow_ms, double now_s);

  /// Takes so many members: the seconds to wait before they are asked for.
  double Take(uint64_t members, double now_s) EXCLUDES(mutex_);
  /// How many members to take at once, at most `most`: what a tenth of a second of the limit has,
  /// so that a low rate is no row of bursts.
  uint64_t Piece(uint64_t most) const EXCLUDES(mutex_);
  /// A PING took `ms`. After a slow one the limit is half of what was taken last (and of the
  /// limit); each one that is not slow raises it by a quarter, up to the given rate.
  void Note(double ms, double now_s) EXCLUDES(mutex_);
  /// The present limit; 0: none.
  double limit() const EXCLUDES(mutex_);
  /// Slow answers so far.
  uint64_t slow() const EXCLUDES(mutex_);

 private:
  const double rate_, slow_ms_;
  mutable Mutex mutex_{LockRank::kLeaf};
  double limit_ GUARDED_BY(mutex_);          // 0: none
  double free_at_s_ GUARDED_BY(mutex_);      // when what was taken is through
  double noted_at_s_ GUARDED_BY(mutex_);     // the last PING
  uint64_t taken_ GUARDED_BY(mutex_) = 0;    // since then
  double unlimited_ GUARDED_BY(mutex_) = 0;  // the speed at which the first slow answer came
  uint64_t slow_ GUARDED_BY(mutex_) = 0;
};

}  // namespace seendb::tool
