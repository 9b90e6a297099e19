// common/wire/refusal_names.h: why events were refused, by name, as answers, metrics and the bodies
// between nodes write it.

#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "seendb/events.h"

namespace seendb::wire {

/// Refused events are counted by RefusalReason; lines that hold no event come behind these.
inline constexpr size_t kMalformed = kRefusalReasons;
inline constexpr size_t kRefusedBy = kRefusalReasons + 1;

/// "too_old", ..., "malformed".
inline std::string_view RefusedByName(size_t reason) noexcept {
  return reason == kMalformed ? "malformed" : RefusalReasonName(static_cast<RefusalReason>(reason));
}

/// The reason of that name; nothing: a newer version's, or none.
inline std::optional<RefusalReason> RefusalReasonOf(std::string_view name) noexcept {
  for (size_t i = 0; i < kRefusalReasons; ++i) {
    const auto reason = static_cast<RefusalReason>(i);
    if (RefusalReasonName(reason) == name) return reason;
  }
  return {};
}

}  // namespace seendb::wire
