// tests/simulation/model_clock.h: which buckets may have been dropped by a clock that was ahead.
//
// Of each collection it is kept how far buckets had expired, and up to which call: a play of a
// later call can't have gone with them.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "seendb/policy.h"

namespace seendb::simulation {

/// See the head of this file.
class ClockModel {
 public:
  /// By this policy and this time buckets may be dropped, from now on or until now; so many calls
  /// were made.
  void Expire(const std::string& collection, const Policy& policy, int64_t now_ms, uint64_t call);
  /// The last call whose plays in that bucket may have been dropped; 0: none.
  uint64_t DroppedUpTo(const std::string& collection, int64_t bucket) const;

 private:
  // By collection: the newest bucket that had expired, and the last call of that time.
  std::map<std::string, std::map<int64_t, uint64_t>> expired_;
};

}  // namespace seendb::simulation
