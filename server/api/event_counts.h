// server/api/event_counts.h: counting recorded events by collection.

#pragma once

#include <cstdint>

#include "ops/metrics.h"

namespace seendb::api {

/// What a batch holds.
enum class EventKind : uint8_t { kPlays, kImpressions };

/// Adds a batch to the collection's counters.
inline void CountEvents(ops::CollectionCounters* counters, EventKind kind, uint64_t accepted,
                        uint64_t refused) {
  const bool plays = kind == EventKind::kPlays;
  auto& taken = plays ? counters->plays_accepted : counters->impressions_accepted;
  auto& not_taken = plays ? counters->plays_refused : counters->impressions_refused;
  taken.fetch_add(accepted, std::memory_order_relaxed);
  not_taken.fetch_add(refused, std::memory_order_relaxed);
}

}  // namespace seendb::api
