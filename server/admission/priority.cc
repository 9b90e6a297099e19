#include "admission/priority.h"

#include <algorithm>
#include <cctype>

namespace seendb::admission {

std::optional<Priority> ParsePriority(std::string_view text) noexcept {
  const auto same = [](char c, char lower) {
    return std::tolower(static_cast<unsigned char>(c)) == lower;
  };
  for (size_t i = 0; i < kPriorities; ++i) {
    const std::string_view name = kPriorityNames[i];
    if (std::equal(text.begin(), text.end(), name.begin(), name.end(), same)) {
      return static_cast<Priority>(i);
    }
  }
  return std::nullopt;
}

Priority PriorityOf(const PriorityRule& rule) noexcept {
  const Priority unasked = rule.token.value_or(rule.route);
  if (!rule.asked) return unasked;
  if (!rule.has_token) return *rule.asked;
  // The enumeration goes from high to low: the cap is the smallest that may be had.
  const Priority cap = std::min(rule.token.value_or(Priority::kNormal), unasked);
  return std::max(*rule.asked, cap);
}

}  // namespace seendb::admission
