#include "ops/expiring_tokens.h"

#include <utility>

namespace seendb::ops {

std::vector<std::string> ExpiringTokens::Look(const files::TokenSet& tokens, int64_t now_ms) {
  std::vector<std::string> names;
  std::map<std::string, int64_t> told_ms;
  for (const files::Token& token : tokens.tokens) {
    const bool soon = token.expires_ms != 0 && token.expires_ms - now_ms <= kWithinMs;
    if (!soon || token.Expired(now_ms)) continue;
    const auto before = told_ms_.find(token.name);
    const bool told = before != told_ms_.end() && now_ms - before->second < kDayMs;
    told_ms[token.name] = told ? before->second : now_ms;
    if (!told) names.push_back(token.name);
  }
  told_ms_ = std::move(told_ms);
  return names;
}

}  // namespace seendb::ops
