#include "backup/keep.h"

#include <charconv>

namespace seendb::backup {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr uint32_t kCountMost = 10'000;

Status BadKeep() {
  return Status::InvalidArgument("--keep: write how many days and weeks, as 7d,4w", "/keep");
}

}  // namespace

Result<std::vector<KeepRule>> ParseKeep(std::string_view text) {
  std::vector<KeepRule> rules;
  for (;;) {
    KeepRule rule;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rule.count);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (error != std::errc() || rule.count == 0 || rule.count > kCountMost || text.empty()) {
      return BadKeep();
    }
    if (text.front() == 'd') {
      rule.period_ms = kDayMs;
    } else if (text.front() == 'w') {
      rule.period_ms = 7 * kDayMs;
      rule.offset_ms = 4 * kDayMs;  // 1970-01-05 was a Monday
    } else {
      return BadKeep();
    }
    rules.push_back(rule);
    text.remove_prefix(1);
    if (text.empty()) return rules;
    if (text.front() != ',') return BadKeep();
    text.remove_prefix(1);
  }
}

std::set<uint64_t> Kept(const std::map<uint64_t, int64_t>& began_ms,
                        const std::vector<KeepRule>& rules) {
  std::set<uint64_t> kept;
  if (!began_ms.empty()) kept.insert(began_ms.rbegin()->first);
  for (const KeepRule& rule : rules) {
    std::map<int64_t, uint64_t> newest;  // of each period
    for (const auto& [id, at_ms] : began_ms) {
      newest[(at_ms + rule.period_ms - rule.offset_ms) / rule.period_ms] = id;
    }
    uint32_t left = rule.count;
    for (auto one = newest.rbegin(); one != newest.rend() && left > 0; ++one, --left) {
      kept.insert(one->second);
    }
  }
  return kept;
}

}  // namespace seendb::backup
