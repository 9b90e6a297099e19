// server/admission/lane_counters.h: what a lane and its loop have counted, for metrics.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "admission/ticket.h"
#include "admission/wait_histogram.h"

namespace seendb::admission {

/// Counters and gauges of one lane. Threads: any.
struct LaneCounters {
  /// Refusals by where, why and how important. Those at the door are counted by Admission.
  std::array<std::array<std::array<std::atomic<uint64_t>, kPriorities>, kReasons>, kPlaces>
      refused{};
  WaitHistogram queued;    ///< from the last byte to the turn, of what was run
  WaitHistogram refusals;  ///< from the head to the refusal
  WaitHistogram gaps;      ///< between two looks of the loop for what came
  std::atomic<uint64_t> answered{0};
  std::atomic<uint64_t> gone{0};      ///< removed while they waited: the client was gone
  std::atomic<uint64_t> retried{0};   ///< requests that were not the first try
  std::atomic<uint64_t> episodes{0};  ///< of overload
  std::atomic<bool> overloaded{false};
  std::atomic<int64_t> waiting{0};   ///< entries that wait
  std::atomic<int64_t> work_ns{0};   ///< of them, by their estimates, for each thread
  std::atomic<double> load{0};       ///< offered by capacity, refused included, as of load_at
  std::atomic<double> full_load{0};  ///< likewise, as if nothing were degraded
  std::atomic<Time> load_at{};

  /// All refusals.
  uint64_t AllRefused() const;
};

}  // namespace seendb::admission
