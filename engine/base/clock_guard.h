// engine/base/clock_guard.h: the present, and whether the clock that tells it is in doubt.
//
// Expired data is deleted by the clock. A clock that is ahead by mistake (a wrong battery or time
// server, a machine that was restored) would delete data that is in use. So the machine's clock is
// in doubt once it has gone an hour further than CLOCK_BOOTTIME, or where an opening finds it more
// than `jump_ms` after the newest time that the database noted. While it is in doubt nothing is
// deleted or refused as too old. The doubt ends when the clock comes back, or is confirmed.
//
// A clock that somebody injected is its owner's word: it is never in doubt, and nothing is noted.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/sync.h"
#include "seendb/status.h"

namespace seendb {

/// One look at the clock.
struct Present {
  int64_t ms = 0;
  bool in_doubt = false;
};

/// kInvalidArgument for a present that no bucket can be named after.
Status CheckCalendar(int64_t now_ms);

/// See the head of this file. Threads: any.
class ClockGuard final : public Clock {
 public:
  /// `owned` is believed. Where it is null: `machine`, or, where that is null too, the machine's.
  /// Both must outlive the guard.
  ClockGuard(const Clock* owned, const MachineClock* machine, int64_t jump_ms);

  int64_t NowMs() const override;
  /// The present, and whether the same look doubts it.
  Present Look() const;
  /// kUnavailable where `now` is in doubt. The text is always the same.
  static Status Check(const Present& now);

  /// The database is opened in parts: the clock is in doubt until Begin.
  void BeginInParts();
  /// The database was opened; `noted_ms` is the newest time that it noted, if it noted any.
  /// `confirmed`: somebody said that the clock is right. Of a database that is opened in parts: a
  /// part that noted a time was opened, or, without a time, the last.
  void Begin(std::optional<int64_t> noted_ms, bool confirmed);
  /// The clock is right: the doubt is over. Returns the present.
  int64_t Confirm();
  /// The time to note, at most once a minute unless `closing`; nothing while the clock is in doubt,
  /// or before Begin.
  std::optional<int64_t> TimeToNote(bool closing);

 private:
  /// How far the clock is ahead of the time since the boot: the same until somebody sets it.
  int64_t Ahead(int64_t now_ms) const { return now_ms - machine_->BootMs(); }

  const Clock* const clock_;
  const MachineClock* const machine_;  // null where the clock is its owner's word
  const int64_t jump_ms_;
  std::atomic<int64_t> ahead_max_;  // beyond it the clock is in doubt
  Mutex mutex_{LockRank::kLeaf};
  bool begun_ GUARDED_BY(mutex_) = false;
  std::optional<int64_t> noted_ms_ GUARDED_BY(mutex_);          // the newest that Begin was told
  bool jumped_ GUARDED_BY(mutex_) = false;                      // since the opening
  std::optional<int64_t> noted_at_boot_ms_ GUARDED_BY(mutex_);  // the last time to note
};

}  // namespace seendb
