// tests/model/invariants.h: what holds in every state, each named by the sentence of
// engine/doc/consistency.md that says so.

#pragma once

#include <string_view>

#include "model/state.h"

namespace seendb::model {

/// The sentence that does not hold; empty where all do.
std::string_view ViolatedInvariant(const Scope& scope, const State& state);

}  // namespace seendb::model
