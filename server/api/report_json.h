// server/api/report_json.h: the engine's reports as JSON, member by member under the names of
// seendb/report.h.

#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "seendb/report.h"

namespace seendb::api {

/// Each report as an object.
nlohmann::ordered_json ToJson(const UserReport& report);
nlohmann::ordered_json ToJson(const EngineStats& stats);
nlohmann::ordered_json ToJson(const BucketInfo& bucket);
nlohmann::ordered_json ToJson(const SlotInfo& slot);
nlohmann::ordered_json ToJson(const CheckpointReport& report);

/// `{"name":...,` and the policy's members.
std::string ToJsonText(const CollectionInfo& info);

/// Compact text; bytes that are not UTF-8 become U+FFFD.
std::string Dump(const nlohmann::ordered_json& json);

}  // namespace seendb::api
