// server/api/readiness.h: what /readyz says of the engine, as of the last look: a probe waits for
// nothing.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/sync.h"
#include "seendb/engine.h"

namespace seendb::api {

/// See the head of this file. Threads: any.
class Readiness {
 public:
  /// What was found.
  struct State {
    bool degraded = false;
    std::vector<std::string> problems;
  };

  /// Asks the engine, which is open, and `ingest_problems` (may be unset).
  void Look(Engine* engine, const std::function<std::vector<std::string>()>& ingest_problems);
  /// What the last Look found.
  State Latest() const;

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  State state_ GUARDED_BY(mutex_);
};

}  // namespace seendb::api
