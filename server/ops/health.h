// server/ops/health.h: where the process is in its life.

#pragma once

#include <atomic>
#include <cstdint>

namespace seendb::ops {

/// Phases of the process, in order.
enum class Phase : uint8_t {
  kOpening,   ///< the port is open, the database is being replayed
  kReady,     ///< serving
  kLeaving,   ///< a signal came; serving still, for Limits::shutdown_delay_ms
  kStopping,  ///< a signal came; requests in flight are finished, no new ones taken
};

/// The present phase. Threads: any.
class Health {
 public:
  Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
  void Set(Phase phase) noexcept { phase_.store(phase, std::memory_order_release); }

 private:
  std::atomic<Phase> phase_{Phase::kOpening};
};

}  // namespace seendb::ops
