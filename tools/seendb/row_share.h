// seendb/row_share.h: how many rows of a log may be refused or bad before the command fails.

#pragma once

#include <cstdint>
#include <string_view>

#include "session.h"

namespace seendb::tool {

/// Reads "5%", "0.1%" or "5": 0 to 100. kInvalidArgument.
Result<double> ParsePercent(std::string_view text);

/// A success where at most `allowed_percent` of `rows` rows are `wrong`; otherwise a failure, with
/// which `session` ends in kExitRows.
Status JudgeRows(uint64_t wrong, uint64_t rows, double allowed_percent, Session* session);

}  // namespace seendb::tool
