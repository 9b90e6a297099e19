// server/admission/priority.h: how important a request counts.

#pragma once

#include <optional>
#include <string_view>

#include "admission/ticket.h"

namespace seendb::admission {

/// "high", "normal" or "low", in any case; none for anything else.
std::optional<Priority> ParsePriority(std::string_view text) noexcept;

/// What the parts have to say.
struct PriorityRule {
  std::optional<Priority> asked = {};  ///< by the request: SeenDB-Priority
  bool has_token = false;              ///< it shows a token; false: tokens are not in use
  std::optional<Priority> token = {};  ///< that the token's entry names
  Priority route = Priority::kNormal;
};

/// The token's priority, otherwise the route's, where the request asks for none. It may lower its
/// priority freely, and raise it up to its token's (normal, where that names none), never below
/// what it has without asking; without tokens anybody may ask for any.
Priority PriorityOf(const PriorityRule& rule) noexcept;

}  // namespace seendb::admission
