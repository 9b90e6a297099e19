// base/counted_kinds.h: for how long a policy counts by the groups of a kind, and which caps fit
// that.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "seendb/facts.h"
#include "seendb/policy.h"
#include "seendb/status.h"

namespace seendb {

/// The kind whose key is an item itself.
inline constexpr std::string_view kItemKind = "item";

/// "author" of "author:3".
constexpr std::string_view KindOf(std::string_view group) {
  return group.substr(0, group.find(':'));
}

/// For how long events count by a group, in ms.
int64_t CountedFor(std::string_view group, std::span<const CountedKind> kinds);
/// The same by their items; 0: they don't.
int64_t ItemsCountedFor(std::span<const CountedKind> kinds);

/// kInvalidArgument with "/of", "/n" or "/within" for what is no cap.
Status CheckCap(const Cap& cap);
/// The same for a cap that asks for more than is counted. Precondition: CheckCap found nothing.
Status CheckCapIsCounted(const Cap& cap, std::span<const CountedKind> kinds);

}  // namespace seendb
