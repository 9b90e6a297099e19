#include "local_zone.h"

#include <optional>

#include "report_json.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

std::optional<times::TimeZone> ZoneOf(Database& database, const std::string& collection) {
  const auto report = ListCollections(database);
  if (!report.ok()) return {};
  for (const Json& one : ListOf(*report, "collections")) {
    if (TextOf(one, "name") != collection) continue;
    const auto zone = times::TimeZone::Named(TextOf(one, "utc_offset"));
    if (zone.ok()) return *zone;
  }
  return {};
}

}  // namespace

void TakeZoneOf(Database& database, const std::string& collection, LogFlags* log) {
  if (!log->time_zone.empty()) return;
  const auto zone = ZoneOf(database, collection);
  log->columns.zone_known = zone.has_value();
  if (zone) log->columns.time_form.zone = *zone;
}

}  // namespace seendb::tool
