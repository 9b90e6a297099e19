// tests/model/run/walk.h: walks on an explored graph, chosen by a seed, each with a real engine.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "model/action.h"
#include "model/explorer.h"

namespace seendb::model {

/// How much is walked.
struct WalkLimits {
  std::chrono::steady_clock::time_point end;  ///< not looked at before each action was met once
  uint64_t seed = 0;
  uint32_t part = 0, parts = 1;  ///< of those who share the work
  size_t steps = 400;            ///< of one engine
};

/// The outcome.
struct Walked {
  size_t transitions = 0;      ///< executed, each counted once
  size_t steps = 0;            ///< all steps
  size_t engines = 0;          ///< that were begun
  uint64_t kinds = 0;          ///< of actions that were executed
  std::string difference;      ///< the first one; empty: none
  std::vector<Action> script;  ///< which shows it, a shortest one
  std::string shown;           ///< what the script shows
};

/// Walks a graph that was explored.
Walked Walk(const Explorer<EngineModel>& graph, const WalkLimits& limits);

}  // namespace seendb::model
