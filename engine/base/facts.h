// base/facts.h: what is a name of a surface, of a group and of a set, and what is a set of a user.

#pragma once

#include <span>
#include <string_view>

#include "seendb/status.h"
#include "seendb/user_sets.h"

namespace seendb {

/// kInvalidArgument for a name that is longer than kMaxSurfaceBytes, or no UTF-8. None is fine.
Status CheckSurface(std::string_view surface);
/// The same of a group of items, which has 1-kMaxGroupBytes bytes.
Status CheckGroup(std::string_view group);
/// The same of the groups of an event or a candidate, at most kMaxCandidateGroups of both kinds
/// together, with "/of" or "/of/<place>", "/same_as" or "/same_as/<place>".
Status CheckGroups(std::span<const std::string_view> of,
                   std::span<const std::string_view> same_as = {});
/// The same of a set of items, of 1-kMaxSetNameBytes bytes.
Status CheckSetName(std::string_view name);
/// The same of a set that is put, but for its time: "/user", "/name", "/items", "/items/<index>",
/// "/expires_ms".
Status CheckUserSet(const UserSet& set);

}  // namespace seendb
