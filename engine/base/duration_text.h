// base/duration_text.h: lengths of time as people write them: "7d", "24h", "90m", "30s", "500ms".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seendb {

/// In the largest unit that divides it; days only from two on, and "0s".
std::string DurationText(int64_t ms);
/// The milliseconds; nothing for what is no such text, or too long for them.
std::optional<int64_t> DurationOfText(std::string_view text);

}  // namespace seendb
