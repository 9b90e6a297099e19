#include "user_query.h"

#include "base/outside_json.h"
#include "report_json.h"

namespace seendb::tool {
namespace {

std::string UserTarget(const std::string& user, std::string_view rest = {}) {
  return "/users/" + PercentEncode(user) + std::string(rest);
}

/// Parses `fields` as a JSON object; keeps anything else as a string (the engine takes any bytes).
Json FieldsOf(const std::string& fields) {
  Json json = ParseOutside<Json>(fields);
  return json.is_object() ? json : Json(fields);
}

Json EntryJson(const HistoryEntry& entry) {
  Json json = {{"collection", entry.collection},
               {"item", entry.item},
               {"at", entry.at_ms},
               {"progress_s", entry.progress_s},
               {"duration_s", entry.duration_s}};
  if (!entry.device.empty()) json["device"] = entry.device;
  if (!entry.fields.empty()) json["fields"] = FieldsOf(entry.fields);
  return json;
}

void SetDegraded(bool degraded, const std::vector<std::string>& missing, Json* json) {
  (*json)["degraded"] = degraded;
  if (degraded) (*json)["missing"] = missing;
}

}  // namespace

Result<Json> InspectUser(Database& database, const std::string& user,
                         const std::string& collection) {
  if (HttpClient* server = database.server()) {
    std::string target = UserTarget(user);
    if (!collection.empty()) target += "?collection=" + PercentEncode(collection);
    return server->Call({.target = target});
  }
  const auto report = database.engine()->Inspect(IdRef(user), collection);
  if (!report.ok()) return report.status();
  return ToJson(*report);
}

Result<Policy> PolicyOf(Database& database, const std::string& name) {
  auto report = ListCollections(database);
  if (!report.ok()) return report.status();
  for (Json one : ListOf(*report, "collections")) {
    if (TextOf(one, "name") != name) continue;
    one.erase("name");
    auto patch = PolicyPatchFromJson(one.dump());
    if (!patch.ok()) return patch.status();
    return ApplyPatch(Policy(), *patch);
  }
  return Status::NotFound("no collection \"" + name + "\"");
}

Result<Json> ListCollections(Database& database) {
  if (HttpClient* server = database.server()) return server->Call({.target = "/collections"});
  return ToJson(database.engine()->Collections());
}

Result<Json> ReadHistoryPage(Database& database, const std::string& user, const PageQuery& query) {
  if (HttpClient* server = database.server()) {
    std::string target = UserTarget(user, "/history?limit=") + std::to_string(query.limit);
    if (!query.cursor.empty()) target += "&cursor=" + PercentEncode(query.cursor);
    for (size_t i = 0; i < query.collections.size(); ++i) {
      target += (i == 0 ? "&collection=" : ",") + PercentEncode(query.collections[i]);
    }
    return server->Call({.target = target});
  }
  const std::vector<std::string_view> names(query.collections.begin(), query.collections.end());
  HistoryPage page;
  const Status status = database.engine()->ReadHistory({.user = IdRef(user),
                                                        .collections = names,
                                                        .limit = query.limit,
                                                        .cursor = query.cursor,
                                                        .switched_off = query.switched_off},
                                                       &page);
  if (!status.ok()) return status;
  Json json = {{"entries", Json::array()}};
  for (const HistoryEntry& entry : page.entries) json["entries"].push_back(EntryJson(entry));
  if (!page.cursor.empty()) json["cursor"] = page.cursor;
  SetDegraded(page.degraded, page.missing, &json);
  return json;
}

Result<Json> LookUpHistory(Database& database, const std::string& user,
                           const std::string& collection, const std::vector<std::string>& items) {
  if (HttpClient* server = database.server()) {
    const std::string body = OneLine({{"items", items}, {"collection", collection}});
    return server->Call(
        {.method = "POST", .target = UserTarget(user, "/history/lookup"), .body = body});
  }
  const std::vector<IdRef> ids(items.begin(), items.end());
  HistoryLookup found;
  const Status status = database.engine()->LookupHistory(IdRef(user), collection, ids, &found);
  if (!status.ok()) return status;
  Json json = {{"entries", Json::array()}};
  for (const auto& entry : found.entries) {
    if (entry) json["entries"].push_back(EntryJson(*entry));
  }
  SetDegraded(found.degraded, found.missing, &json);
  return json;
}

Result<Json> ReadRecording(Database& database, const std::string& user) {
  if (HttpClient* server = database.server()) {
    return server->Call({.target = UserTarget(user, "/recording")});
  }
  const auto recording = database.engine()->GetRecording(IdRef(user));
  if (!recording.ok()) return recording.status();
  return Json{{"paused", recording->paused}, {"since_ms", recording->since_ms}};
}

std::string OneLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace seendb::tool
