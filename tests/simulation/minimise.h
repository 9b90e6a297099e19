// tests/simulation/minimise.h: makes a failing script small.

#pragma once

#include "simulation/simulator.h"

namespace seendb::simulation {

/// Delta debugging (Zeller, Hildebrandt: "Simplifying and isolating failure-inducing input", 2002):
/// leaves out operations, then events and candidates, as long as what is left still breaks a
/// promise. Takes at most about `seconds`.
Script Minimise(const Script& script, const Opener& opener, double seconds);

}  // namespace seendb::simulation
