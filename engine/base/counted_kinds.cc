#include "base/counted_kinds.h"

#include <algorithm>
#include <string>

#include "base/duration_text.h"
#include "base/facts.h"

namespace seendb {
namespace {

const CountedKind* FindKind(std::string_view kind, std::span<const CountedKind> kinds) {
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [kind](const CountedKind& one) { return one.kind == kind; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

int64_t CountedFor(std::string_view group, std::span<const CountedKind> kinds) {
  if (kinds.empty()) return kCountedForMs;
  const CountedKind* const found = FindKind(KindOf(group), kinds);
  return found == nullptr ? kCountedForMs : found->for_ms;
}

int64_t ItemsCountedFor(std::span<const CountedKind> kinds) {
  const CountedKind* const found = FindKind(kItemKind, kinds);
  return found == nullptr ? 0 : found->for_ms;
}

Status CheckCap(const Cap& cap) {
  const Status kind = CheckGroup(cap.of).WithFieldPrefix("/of");
  if (!kind.ok()) return kind;
  if (cap.n < 1 || cap.n > kMaxCap) {
    return Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxCap), "/n");
  }
  if (cap.within_ms < kMinCapMs || cap.within_ms > kCountedForMs) {
    return Status::InvalidArgument("must be from 1 minute to 30 days", "/within");
  }
  return {};
}

Status CheckCapIsCounted(const Cap& cap, std::span<const CountedKind> kinds) {
  if (cap.of == kItemKind && ItemsCountedFor(kinds) == 0) {
    return Status::InvalidArgument("items are counted only where counts of the policy names item",
                                   "/of");
  }
  const int64_t for_ms = CountedFor(cap.of, kinds);
  if (cap.within_ms <= for_ms) return {};
  return Status::InvalidArgument(
      "must not be above " + DurationText(for_ms) + ", for which the policy counts the kind",
      "/within");
}

}  // namespace seendb
