// server/transfer/free_space.h: how much of a disk is free.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "seendb/status.h"

namespace seendb::transfer {

/// The bytes that are free where `folder` lies. kIOError.
Result<uint64_t> FreeSpaceOf(const std::string& folder);

/// The same, or what a test says.
using FreeSpace = std::function<Result<uint64_t>(const std::string& folder)>;

/// kIOError, with both figures, unless `needed` bytes are free and `reserve` beside them. `what`
/// needs them: "the copy of shard 3".
Status CheckFreeSpace(const FreeSpace& free_space, const std::string& folder, uint64_t needed,
                      uint64_t reserve, const std::string& what);

}  // namespace seendb::transfer
