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
/// play. Where the engine can't tell they count as taken. Views what `plays` views. Cost: then one
/// filter request per user.
std::vector<Play> TakenOf(Engine& engine, std::string_view collection, std::span<const Play> plays,
                          uint64_t refused, std::span<const Refusal> refusals);

/// The plays whose item is seen now, or may be. The error of a request that failed: not now.
Result<std::vector<Play>> SeenOf(Engine& engine, std::string_view collection,
                                 std::span<const Play> plays);

}  // namespace seendb::migration
