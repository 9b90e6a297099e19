// backup/keep.h: which backups stay.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "seendb/status.h"

namespace seendb::backup {

/// The newest backup stays of each of the newest `count` days (weeks) that have one.
struct KeepRule {
  uint32_t count = 0;
  int64_t period_ms = 0;  ///< a day, or a week
  int64_t offset_ms =
      0;  ///< where the first period after 1970-01-01 UTC begins, less than a period
};

/// "7d,4w": of 7 days and of 4 weeks, which begin on Mondays, by UTC. kInvalidArgument ("/keep").
Result<std::vector<KeepRule>> ParseKeep(std::string_view text);

/// The ids that stay, of backups by their ids with the times of their beginnings. The newest is
/// always among them.
std::set<uint64_t> Kept(const std::map<uint64_t, int64_t>& began_ms,
                        const std::vector<KeepRule>& rules);

}  // namespace seendb::backup
