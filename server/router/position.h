// server/router/position.h: how far the log was when a write was acknowledged: the header
// SeenDB-Position, "3:1042,17:5": for each partition the offset behind the newest record of it.
//
// Pure. Threads: any.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "seendb/status.h"

namespace seendb::router {

/// The next offset to read, by partition.
using Positions = std::map<uint32_t, int64_t>;

/// Reads the header; of a partition that is named twice the larger counts. kInvalidArgument: it is
/// none, or has more than 1,024 entries.
Result<Positions> ParsePosition(std::string_view header);
/// Notes an offset that was written.
void NoteWritten(uint32_t partition, int64_t offset, Positions* positions);
/// The value of the header.
std::string PositionText(const Positions& positions);

}  // namespace seendb::router
