// seendb export USER: everything held about a user as NDJSON, the lines of GET
// /users/{user}/export: a server is asked for them, of a folder they are made here.

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

constexpr uint64_t kExportBytesMost = 1u << 30;  // it is printed as it came

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
  query.switched_off = true;
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
  if (status.ok()) status = PrintHistory(database, user, &end);
  return status.ok() ? PrintLine("end", end) : status;
}

/// What the server sends, and whether that is all of it.
Status PrintServed(HttpClient& server, const std::string& user) {
  auto answer = server.Send({.target = "/users/" + PercentEncode(user) + "/export",
                             .answer_bytes_most = kExportBytesMost});
  if (!answer.ok()) return answer.status();
  if (answer->status != 200) return StatusOfAnswer(*answer);
  if (Status status = Print(answer->body); !status.ok()) return status;
  while (!answer->body.empty() && answer->body.back() == '\n') answer->body.pop_back();
  answer->body.erase(0, answer->body.rfind('\n') + 1);
  const Json last = ParseAnswer(answer->body);
  if (last.is_object() && last.contains("error")) return StatusOfAnswer(*answer);
  if (last.is_object() && TextOf(last, "type") == "end") return {};
  return Status::Unavailable("the export broke off");
}

Status RunExport(const Session& session, const std::string& user) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  HttpClient* const server = (*database)->server();
  return (*database)->Close(server != nullptr ? PrintServed(*server, user)
                                              : PrintAll(**database, user));
}

}  // namespace

void AddExport(Command app, Session& session) {
  auto user = std::make_shared<std::string>();
  Command command = AddCommand(
      app, session, "export",
      "Write everything held about a user as lines of JSON: each collection, the history, "
      "and a last line of type \"end\"",
      Takes::kFolderOrServer, [&session, user] { return RunExport(session, *user); });
  command.Add("user", *user, "The user's id").Required().TypeName("USER");
  command.Examples({"seendb export u1 > u1.ndjson"});
}

}  // namespace seendb::tool
