#include "admission/lane_counters.h"

namespace seendb::admission {

uint64_t LaneCounters::AllRefused() const {
  uint64_t all = 0;
  for (const auto& place : refused) {
    for (const auto& reason : place) {
      for (const auto& count : reason) all += count.load(std::memory_order_relaxed);
    }
  }
  return all;
}

}  // namespace seendb::admission
