// server/migration/taken.h: which plays of a batch the engine took.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "seendb/engine.h"

namespace seendb::migration {

/// The plays of a batch without those that the engine refused: `refused` of them, of which
/// `refusals` names the first. Where it does not name all, the engine is asked which items are seen
/// now: a play that was taken is, within the window; a refused one only by mistake, or for another
/// play. Views what `plays` views. Cost: then one filter request per user.
std::vector<Play> TakenOf(Engine& engine, std::string_view collection, std::span<const Play> plays,
                          uint64_t refused, std::span<const Refusal> refusals);

}  // namespace seendb::migration
