// tests/simulation/generate.h: a script from a seed.

#pragma once

#include "simulation/script.h"

namespace seendb::simulation {

/// How much happens.
struct Scale {
  int months = 12;  ///< simulated
  int rounds = 20;  ///< a month: each moves the clock and does two to ten things
  int users = 24;   ///< a heavy tail; the first three are whales
};

/// The same script for the same seed and scale, on every platform.
Script Generate(uint64_t seed, const Scale& scale);

}  // namespace seendb::simulation
