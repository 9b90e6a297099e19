#include "simulation/model_clock.h"

#include <algorithm>

#include "simulation/calendar.h"

namespace seendb::simulation {

// An entry of a newer bucket holds for the older ones too: only those that say more are kept.
void ClockModel::Expire(const std::string& collection, const Policy& policy, int64_t now_ms,
                        uint64_t call) {
  const int64_t newest = BucketAt(policy, now_ms) - int64_t{policy.retention};
  std::map<int64_t, uint64_t>& expired = expired_[collection];
  uint64_t& last = expired[newest];
  last = std::max(last, call);
  const auto own = expired.find(newest);
  std::erase_if(expired, [&](const auto& one) {
    return one.first < own->first && one.second <= own->second;
  });
}

uint64_t ClockModel::DroppedUpTo(const std::string& collection, int64_t bucket) const {
  const auto at = expired_.find(collection);
  if (at == expired_.end()) return 0;
  uint64_t last = 0;
  for (auto it = at->second.lower_bound(bucket); it != at->second.end(); ++it) {
    last = std::max(last, it->second);
  }
  return last;
}

}  // namespace seendb::simulation
