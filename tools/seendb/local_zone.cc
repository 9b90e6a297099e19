#include "local_zone.h"

#include <optional>

#include "report_json.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

/// Nothing where the collection is not there, or not shown to this token.
Result<std::optional<times::TimeZone>> ZoneOf(Database& database, const std::string& collection) {
  using Zone = std::optional<times::TimeZone>;
  const auto report = ListCollections(database);
  const StatusCode code = report.status().code();
  if (code == StatusCode::kBusy || code == StatusCode::kUnavailable) return report.status();
  if (!report.ok()) return Zone();
  for (const Json& one : ListOf(*report, "collections")) {
    if (TextOf(one, "name") != collection) continue;
    const auto zone = times::TimeZone::Named(TextOf(one, "utc_offset"));
    if (zone.ok()) return Zone(*zone);
  }
  return Zone();
}

}  // namespace

Status TakeZoneOf(Database& database, const std::string& collection, LogFlags* log) {
  if (!log->time_zone.empty()) return {};
  const auto zone = ZoneOf(database, collection);
  if (!zone.ok()) return zone.status();
  log->columns.zone_known = zone->has_value();
  if (*zone) log->columns.time_form.zone = **zone;
  return {};
}

}  // namespace seendb::tool
