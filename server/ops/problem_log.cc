#include "ops/problem_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace seendb::ops {

ProblemLog::Changes ProblemLog::Look(const std::vector<std::string>& problems) {
  std::set<std::string> now(problems.begin(), problems.end());
  Changes changes;
  std::set_difference(now.begin(), now.end(), known_.begin(), known_.end(),
                      std::back_inserter(changes.begun));
  std::set_difference(known_.begin(), known_.end(), now.begin(), now.end(),
                      std::back_inserter(changes.over));
  known_ = std::move(now);
  return changes;
}

}  // namespace seendb::ops
