// tests/model/run/compare.h: whether an engine shows what the model says.

#pragma once

#include <string>

#include "model/run/perform.h"
#include "model/state.h"

namespace seendb::model {

/// How the engine differs from `state`, for people; empty: in nothing.
std::string Difference(World& world, const State& state);

/// How an answer differs from the model's; empty: in nothing.
std::string Difference(const Performed& done, Answer answer);

}  // namespace seendb::model
