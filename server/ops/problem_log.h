// server/ops/problem_log.h: what is wrong with the engine, in the log: a line when a problem begins
// and one when it is over.

#pragma once

#include <set>
#include <string>
#include <vector>

namespace seendb::ops {

/// Remembers the problems of the last look. Threads: one.
class ProblemLog {
 public:
  /// What changed since the last look.
  struct Changes {
    std::vector<std::string> begun, over;
  };
  /// Takes in the problems of now.
  Changes Look(const std::vector<std::string>& problems);

 private:
  std::set<std::string> known_;
};

}  // namespace seendb::ops
