// seendb/report_json.h: the engine's reports as JSON, in the shape the server answers with, so
// that a command prints a folder and a server alike.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http_client.h"
#include "seendb/engine.h"
#include "seendb/repair.h"

namespace seendb::tool {

/// UserReport, EngineStats and the rest of what ReportToJson takes.
template <typename Report>
Json ToJson(const Report& report) {
  return Json::parse(ReportToJson(report));
}
/// What verify found.
Json ToJson(const VerifyReport& report);
/// What verify found of the files, and what repair did.
Json ToJson(const FilesReport& report);
Json ToJson(const StoresReport& report);
Json ToJson(const RepairReport& report);
/// One row of scan.
Json ToJson(const ScanRow& row);

/// A field of an object, or a default where it is absent or of another type.
uint64_t CountOf(const Json& object, std::string_view name);
double NumberOf(const Json& object, std::string_view name);
int64_t TimeOf(const Json& object, std::string_view name);
bool FlagOf(const Json& object, std::string_view name);
std::string TextOf(const Json& object, std::string_view name);
/// A list field; an empty list where there is none.
const Json& ListOf(const Json& object, std::string_view name);

}  // namespace seendb::tool
