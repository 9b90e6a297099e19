// seendb/patient_send.h: tries again what a busy or lost server or Redis refused for the moment.

#pragma once

#include <cstdint>
#include <functional>

#include "interrupt.h"
#include "play_batch.h"

namespace seendb::tool {

/// How long something is tried again.
struct Patience {
  int64_t retry_s = 60;  ///< longest wait in all
  /// Pauses between tries; the default sleeps, until an interrupt.
  std::function<void(int64_t ms)> pause = {};
  /// Asked after each pause: true ends the trying.
  std::function<bool()> stop = [] { return InterruptedBy() != 0; };
};

/// Sleeps, in short steps, until it is over or the command was interrupted.
void SleepMs(int64_t ms);
/// kBusy or kUnavailable.
bool WorthRetrying(const Status& status);

/// Calls `attempt` again and again, with longer and longer pauses (of at least `least_s()`
/// seconds), until it succeeds, fails for good, or the patience is over. Its last answer.
Status TryPatiently(
    const Patience& patience, const std::function<Status()>& attempt,
    const std::function<int64_t()>& least_s = [] { return int64_t{0}; });

/// Sends the batch in that way.
Result<SendResult> SendPatiently(PlaySink& sink, const PlayBatch& batch, const Patience& patience);

}  // namespace seendb::tool
