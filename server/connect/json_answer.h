// connect/json_answer.h: members of the JSON that a route has answered.

#pragma once

#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"

namespace seendb::connect {

/// The text `name` of an object; empty where it has no such.
inline std::string TextIn(const nlohmann::json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// The number `name` of an object; 0 where it has no such.
inline uint32_t CountAt(const nlohmann::json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return 0;
  return static_cast<uint32_t>(WholeNumber(*at, std::numeric_limits<uint32_t>::max()).value_or(0));
}

/// The list `name` of an object; empty where it has no such.
inline const nlohmann::json& ListAt(const nlohmann::json& object, const char* name) {
  static const nlohmann::json kNone = nlohmann::json::array();
  const auto at = object.find(name);
  return at != object.end() && at->is_array() ? *at : kNone;
}

}  // namespace seendb::connect
