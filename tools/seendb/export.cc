// seendb export USER: everything held about a user as NDJSON, the lines of GET
// /users/{user}/export.

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "commands.h"
#include "report_json.h"
#include "seendb/id.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

constexpr uint32_t kPageEntries = 100;

/// `{"type":...}` and the members of `rest`.
Status PrintLine(const char* type, const Json& rest) {
  Json line = {{"type", type}};
  line.update(rest);
  return Print(OneLine(line) + '\n');
}

Status PrintUser(Database& database, const std::string& user) {
  auto recording = ReadRecording(database, user);
  if (!recording.ok() && recording.status().code() != StatusCode::kCorruption) {
    return recording.status();
  }
  return PrintLine("user", {{"user", IdRef(user).ToString()},
                            {"recording", recording.ok() ? std::move(*recording) : Json()}});
}

Status PrintCollection(Database& database, const std::string& user, const std::string& name) {
  auto report = InspectUser(database, user, name);
  if (!report.ok()) return report.status();
  Json line = {{"collection", name}};
  line.update(*report);
  return PrintLine("collection", line);
}

/// Page by page; adds to `*end` what the last line says of it.
Status PrintHistory(Database& database, const std::string& user, Json* end) {
  PageQuery query;
  query.limit = kPageEntries;
  uint64_t entries = 0;
  bool degraded = false;
  std::set<std::string> missing;
  do {
    auto page = ReadHistoryPage(database, user, query);
    if (!page.ok()) return page.status();
    for (const Json& entry : ListOf(*page, "entries")) {
      if (Status status = PrintLine("history", entry); !status.ok()) return status;
      ++entries;
    }
    degraded = degraded || FlagOf(*page, "degraded");
    for (const Json& part : ListOf(*page, "missing")) missing.insert(part.get<std::string>());
    query.cursor = TextOf(*page, "cursor");
  } while (!query.cursor.empty());
  (*end)["entries"] = entries;
  (*end)["degraded"] = degraded;
  if (degraded) (*end)["missing"] = missing;
  return {};
}

Status PrintAll(Database& database, const std::string& user) {
  auto known = ListCollections(database);
  if (!known.ok()) return known.status();
  const Json& collections = ListOf(*known, "collections");
  Status status = PrintUser(database, user);
  for (const Json& collection : collections) {
    if (status.ok()) status = PrintCollection(database, user, TextOf(collection, "name"));
  }
  Json end = {{"collections", collections.size()}, {"entries", 0}, {"degraded", false}};
  const bool any = std::any_of(collections.begin(), collections.end(), [](const Json& collection) {
    return FlagOf(collection.value("history", Json::object()), "enabled");
  });
  if (status.ok() && any) status = PrintHistory(database, user, &end);
  return status.ok() ? PrintLine("end", end) : status;
}

Status Run(const Session& session, const std::string& user) {
  if (!session.collection.empty()) {
    return Status::InvalidArgument("--collection: an export is of all collections");
  }
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  return (*database)->Close(PrintAll(**database, user));
}

}  // namespace

void AddExport(CLI::App& app, Session& session) {
  auto user = std::make_shared<std::string>();
  AddCommand(app, session, "export",
             "Write everything held about a user as lines of JSON: each collection, the history, "
             "and a last line of type \"end\"",
             Takes::kFolderOrServer, [&session, user] { return Run(session, *user); })
      .add_option("user", *user, "The user's id")
      ->required()
      ->type_name("USER");
}

}  // namespace seendb::tool
