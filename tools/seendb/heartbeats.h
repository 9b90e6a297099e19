// seendb/heartbeats.h: an invented play log as players tell it: each play is reported when it
// begins, every few seconds, and when it ends.
//
// An item lasts 15 to 600 seconds; a third of the plays go to its end, the others stop somewhere.
// A user watches on one device. Plays of one user may overlap, as invented ones do.
//
//   Heartbeats beats(&log, seed, 10);
//   for (Heartbeat beat; beats.Next(&beat);) Print(beat.play.user, beat.watch.progress_s);
//
// The same log, seed and period give the same reports on every machine. Memory: 64 bytes for each
// play that is going on.

#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "play_log.h"
#include "seendb/history.h"

namespace seendb::tool {

/// One report of a player.
struct Heartbeat {
  PlayLog::Event play;  ///< `at_ms`: of the report
  Watch watch;          ///< its texts last for ever
};

/// Reports in the order of time: see the head of this file. Threads: one.
class Heartbeats {
 public:
  /// Of the plays of `log`, which must outlive it, every `period_s` (at least 1) seconds.
  Heartbeats(PlayLog* log, uint64_t seed, int32_t period_s);
  /// The next report. False at the end, which is up to ten minutes after the log's.
  bool Next(Heartbeat* beat);

 private:
  struct Viewing {
    PlayLog::Event play;  // when it is reported next
    int32_t position_s;   // then
    int32_t until_s;      // where it ends
    int32_t duration_s;   // of the item
  };
  struct Later {
    bool operator()(const Viewing& a, const Viewing& b) const;
  };

  Viewing Begin(const PlayLog::Event& play) const;

  PlayLog& log_;
  uint64_t seed_;
  int32_t period_s_;
  PlayLog::Event next_;  // of the log, where there is one
  bool more_;
  std::priority_queue<Viewing, std::vector<Viewing>, Later> viewings_;
};

}  // namespace seendb::tool
