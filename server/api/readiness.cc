#include "api/readiness.h"

#include <utility>

namespace seendb::api {

void Readiness::Look(Engine* engine,
                     const std::function<std::vector<std::string>()>& ingest_problems) {
  EngineStats stats = engine->Stats();
  State state{stats.degraded, std::move(stats.problems)};
  if (ingest_problems) {
    for (std::string& problem : ingest_problems()) state.problems.push_back(std::move(problem));
  }
  const MutexLock lock(mutex_);
  std::swap(state_, state);
}

Readiness::State Readiness::Latest() const {
  const MutexLock lock(mutex_);
  return state_;
}

}  // namespace seendb::api
