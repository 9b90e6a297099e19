// base/policy_lists.h: the members of a policy that are lists: which kinds of groups are counted
// and for how long, and caps. Rules, JSON in and out. Refusals name the place in the list ("/0/n").

#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "seendb/policy.h"

namespace seendb {

/// `{"author":"7d","item":"30d"}`, in the order of the kinds' names.
struct CountedKinds {
  using Value = std::vector<CountedKind>;
  static std::string Rule();
  static Status Check(const Value& kinds);
  static nlohmann::ordered_json Write(const Value& kinds);
  static Status Read(const nlohmann::ordered_json& json, Value* kinds);
};

/// `[{"of":"author","fact":"served","n":2,"within":"24h"}]`; `fact` may be absent.
struct PolicyCaps {
  using Value = std::vector<PolicyCap>;
  static std::string Rule();
  static Status Check(const Value& caps);
  static nlohmann::ordered_json Write(const Value& caps);
  static Status Read(const nlohmann::ordered_json& json, Value* caps);
};

}  // namespace seendb
