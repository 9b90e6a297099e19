#include "base/facts.h"

#include <string>

#include "base/utf8.h"
#include "seendb/facts.h"

namespace seendb {

std::string_view FactName(Fact fact) noexcept {
  switch (fact) {
    case Fact::kPlayed:
      return "played";
    case Fact::kServed:
      return "served";
    case Fact::kExposed:
      return "exposed";
  }
  return "";
}

Status CheckSurface(std::string_view surface) {
  if (surface.size() > kMaxSurfaceBytes) {
    return Status::InvalidArgument("a surface is at most " + std::to_string(kMaxSurfaceBytes) +
                                   " bytes");
  }
  if (!IsUtf8(surface)) return Status::InvalidArgument("a surface is valid UTF-8");
  return {};
}

Status CheckGroup(std::string_view group) {
  if (group.empty()) return Status::InvalidArgument("a group must not be empty");
  if (group.size() > kMaxGroupBytes) {
    return Status::InvalidArgument("a group is at most " + std::to_string(kMaxGroupBytes) +
                                   " bytes");
  }
  if (!IsUtf8(group)) return Status::InvalidArgument("a group is valid UTF-8");
  return {};
}

Status CheckGroups(std::span<const std::string_view> of,
                   std::span<const std::string_view> same_as) {
  const auto check = [](std::span<const std::string_view> groups, size_t room,
                        const std::string& member) -> Status {
    if (groups.size() > room) {
      return Status::InvalidArgument("at most " + std::to_string(kMaxCandidateGroups) + " groups",
                                     member);
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      const Status good = CheckGroup(groups[i]);
      if (good.ok()) continue;
      return Status(good.code(), std::string(good.message()), member + "/" + std::to_string(i));
    }
    return {};
  };
  const Status good = check(of, kMaxCandidateGroups, "/of");
  return good.ok() ? check(same_as, kMaxCandidateGroups - of.size(), "/same_as") : good;
}

Status CheckSetName(std::string_view name) {
  if (name.empty()) return Status::InvalidArgument("a set's name must not be empty");
  if (name.size() > kMaxSetNameBytes) {
    return Status::InvalidArgument("a set's name is at most " + std::to_string(kMaxSetNameBytes) +
                                   " bytes");
  }
  if (!IsUtf8(name)) return Status::InvalidArgument("a set's name is valid UTF-8");
  return {};
}

Status CheckUserSet(const UserSet& set) {
  Status valid = set.user.Validate().WithFieldPrefix("/user");
  if (valid.ok()) valid = CheckSetName(set.name).WithFieldPrefix("/name");
  if (valid.ok() && set.items.size() > kMaxUserSetItems) {
    valid =
        Status::InvalidArgument("at most " + std::to_string(kMaxUserSetItems) + " ids", "/items");
  }
  for (size_t i = 0; valid.ok() && i < set.items.size(); ++i) {
    valid = set.items[i].Validate().WithFieldPrefix("/items/" + std::to_string(i));
  }
  if (valid.ok() && (set.lasts_ms < 1 || set.lasts_ms > kMaxUserSetLastsMs)) {
    valid = Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxUserSetLastsMs),
                                    "/expires_ms");
  }
  return valid;
}

}  // namespace seendb
