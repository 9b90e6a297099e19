// tests/simulation/simulator.h: runs a script against the engine and the model.

#pragma once

#include <optional>
#include <string>

#include "simulation/world.h"

namespace seendb::simulation {

/// How a run ended.
struct Outcome {
  Tally tally;
  uint64_t digest = 0;  ///< of all answers: the same script gives the same
  bool failed = false;
  size_t operation = 0;  ///< that broke a promise
  std::string what;      ///< which one
};

/// The engine itself.
Result<std::unique_ptr<Engine>> OpenEngine(const std::string& path, const Options& options,
                                           const Seams& seams);

/// Runs to the end or to the first broken promise.
Outcome Simulate(const Script& script, const Opener& opener = OpenEngine);

}  // namespace seendb::simulation
