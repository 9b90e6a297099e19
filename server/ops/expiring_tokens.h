// server/ops/expiring_tokens.h: which tokens the log is to warn of, before they expire.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "files/tokens.h"

namespace seendb::ops {

/// Each token is named once a day within the last 7 days before it expires. Threads: one.
class ExpiringTokens {
 public:
  static constexpr int64_t kDayMs = 86'400'000;
  static constexpr int64_t kWithinMs = 7 * kDayMs;

  /// The names to tell of at `now_ms`, as milliseconds since 1970.
  std::vector<std::string> Look(const files::TokenSet& tokens, int64_t now_ms);

 private:
  std::map<std::string, int64_t> told_ms_;  // of those that expire soon
};

}  // namespace seendb::ops
