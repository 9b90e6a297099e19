// tests/model/run/compare.h: whether an engine shows what the model says.

#pragma once

#include <string>

#include "model/run/perform.h"
#include "model/state.h"

namespace seendb::model {

/// How the engine differs from `state`, for people; empty: in nothing.
std::string Difference(World& world, const State& state);

/// The same between two steps of a drain that leads from `before` to `after`: whatever both show is
/// shown, and nothing that neither does.
std::string DifferenceBeside(World& world, const State& before, const State& after);

/// How an answer differs from the model's; empty: in nothing.
std::string Difference(const Performed& done, Answer answer);

}  // namespace seendb::model
