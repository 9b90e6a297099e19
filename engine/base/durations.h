// base/durations.h: lengths of time that bucket borders and limits are made of.

#pragma once

#include <cstdint>

namespace seendb {

inline constexpr int64_t kMsPerMinute = 60'000;
inline constexpr int64_t kMsPerDay = 86'400'000;

}  // namespace seendb
