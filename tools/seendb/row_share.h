// seendb/row_share.h: the rows of a log that were refused or bad: which they are, and how many
// there may be before the command fails.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session.h"

namespace seendb::tool {

/// A row, by its number without the header, and what was wrong with it.
using RowError = std::pair<uint64_t, std::string>;
/// Most bad or refused rows that are described.
inline constexpr size_t kRowErrorsMax = 10;

/// `[{"row":3,"error":"no user"}]`.
Json RowsJson(const std::vector<RowError>& rows);

/// The title and a line for each; the last says how many of `all` are missing. Empty without rows.
std::string RowsText(std::string_view title, const std::vector<RowError>& rows, uint64_t all);

/// Reads "5%", "0.1%" or "5": 0 to 100. kInvalidArgument.
Result<double> ParsePercent(std::string_view text);

/// A success where at most `allowed_percent` of `rows` rows are `wrong`; otherwise a failure, with
/// which `session` ends in kExitRows.
Status JudgeRows(uint64_t wrong, uint64_t rows, double allowed_percent, Session* session);

}  // namespace seendb::tool
