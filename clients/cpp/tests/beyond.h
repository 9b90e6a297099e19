// beyond.h: which scenarios of clients/conformance the client for C++ has no calls for.

#pragma once

#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace seendb::client {

/// Whether a scenario asks for what this client has no call for: sets, counts, reservations, caps,
/// rules on items, repeats, impressions with groups.
inline bool IsBeyond(const nlohmann::json& row) {
  static const std::set<std::string> kCalls = {"put_set", "get_set", "delete_set",
                                               "sets",    "counts",  "reserve"};
  static const char* const kArguments[] = {"caps",    "exclude_sets", "when_short", "where",
                                           "at_most", "unknown",      "fields"};
  for (const nlohmann::json& step : row["steps"]) {
    if (!step.contains("call")) continue;
    const nlohmann::json& args = step["args"];
    const bool of_filter = step["call"] != "get_items";
    if (kCalls.contains(step["call"])) return true;
    for (const char* const name : kArguments) {
      if (of_filter && args.contains(name)) return true;
    }
    if (step["call"] != "record_impressions") continue;
    for (const nlohmann::json& one : args["items"]) {
      if (one.is_object() && one.contains("id")) return true;
    }
  }
  return false;
}

/// The steps of a scenario that make collections.
inline nlohmann::json MakingsOf(const nlohmann::json& row) {
  nlohmann::json makings = nlohmann::json::array();
  for (const nlohmann::json& step : row["steps"]) {
    if (step.value("call", "") == "put_collection") makings.push_back(step);
  }
  return makings;
}

}  // namespace seendb::client
