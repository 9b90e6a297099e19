// server/api/event_counts.h: counting recorded events by collection.

#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/metrics.h"

namespace seendb::api {

/// What a batch holds.
enum class EventKind : uint8_t { kPlays, kImpressions, kExposures };
inline constexpr size_t kEventKinds = 3;  ///< how many there are

/// Adds a batch to the collection's counters.
inline void CountEvents(ops::CollectionCounters* counters, EventKind kind, uint64_t accepted,
                        uint64_t refused) {
  auto& taken = kind == EventKind::kPlays         ? counters->plays_accepted
                : kind == EventKind::kImpressions ? counters->impressions_accepted
                                                  : counters->exposures_accepted;
  auto& not_taken = kind == EventKind::kPlays         ? counters->plays_refused
                    : kind == EventKind::kImpressions ? counters->impressions_refused
                                                      : counters->exposures_refused;
  taken.fetch_add(accepted, std::memory_order_relaxed);
  not_taken.fetch_add(refused, std::memory_order_relaxed);
}

}  // namespace seendb::api
