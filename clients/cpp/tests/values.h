// values.h: ids, values and answers as the scenarios of clients/conformance write them.

#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "seendb/client.h"

namespace seendb::client {

using Json = nlohmann::json;
using std::chrono::milliseconds;

inline Id IdOf(const Json& one) {
  if (one.is_string()) return one.get<std::string>();
  if (one.contains("id")) return IdOf(one["id"]);
  return uint64_t{std::stoull(one["u64"].get<std::string>())};
}

inline std::vector<Id> IdsOf(const Json& all) {
  std::vector<Id> ids;
  for (const Json& one : all) ids.push_back(IdOf(one));
  return ids;
}

inline Json Told(const Id& id) { return id.Number() ? Json{{"u64", id.Text()}} : Json(id.Text()); }

inline Json Told(const std::vector<Id>& ids) {
  Json all = Json::array();
  for (const Id& id : ids) all.push_back(Told(id));
  return all;
}

inline Json Told(const Recorded& recorded) {
  Json refusals = Json::array();
  for (const Refusal& one : recorded.refusals) {
    refusals.push_back({one.index, one.code, one.field});
  }
  return {{"accepted", recorded.accepted},
          {"refused", recorded.refused},
          {"pending", recorded.pending},
          {"refusals", refusals}};
}

/// A value of an item, as scenarios write it: integers that a double does not hold as {"i64"}.
inline Json Exact(const Json& value) {
  if (value.is_object() && value.contains("i64")) {
    return int64_t{std::stoll(value["i64"].get<std::string>())};
  }
  Json all = value;
  if (value.is_structured()) {
    for (Json& one : all) one = Exact(one);
  }
  return all;
}

/// The reverse.
inline Json Spelled(const Json& value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (value.is_number_integer()) {
    const auto number = value.get<int64_t>();
    return number >= kExact || number <= -kExact ? Json{{"i64", std::to_string(number)}} : value;
  }
  Json all = value;
  if (value.is_structured()) {
    for (Json& one : all) one = Spelled(one);
  }
  return all;
}

/// A span as scenarios have it: "1d", "500ms", "2s".
inline milliseconds SpanOf(const std::string& text) {
  static const std::map<std::string, int64_t> kUnits = {
      {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  size_t digits = 0;
  const int64_t number = std::stoll(text, &digits);
  return milliseconds(number * kUnits.at(text.substr(digits)));
}

inline bool HasGroups(const Json& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const Json& one) { return one.is_object() && one.contains("id"); });
}

}  // namespace seendb::client
