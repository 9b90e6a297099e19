// seendb redis finish: ends a server's migration from an old store.

#include <memory>
#include <string>

#include "redis_commands.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

/// What was lost, of those that were finished now.
std::string FinishedText(const Json& report) {
  std::string out;
  for (const Json& one : ListOf(report, "collections")) {
    if (TextOf(one, "phase") != "finished") continue;
    out += TextOf(one, "collection") + ": finished";
    if (one.contains("dropped")) {
      const Json& dropped = one["dropped"];
      out += "; lost: " + FormatBytes(CountOf(dropped, "queue_bytes")) +
             " of plays that the old store was to get, " +
             FormatCount(CountOf(dropped, "affected_users")) +
             " notes of users whose plays it lacks, " +
             FormatCount(CountOf(dropped, "import_queue")) + " users about to be imported";
      if (FlagOf(dropped, "not_everybody")) out += "; not everybody is known to be imported";
    }
    out += "\n";
  }
  return out;
}

Status Finish(const Session& session, bool force) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  Json body = Json::object();
  if (!session.collection.empty()) body["collection"] = session.collection;
  if (force) body["force"] = true;
  auto report =
      (*server)->Call({.method = "POST", .target = "/admin/migration/finish", .body = body.dump()});
  if (!report.ok()) return report.status();
  return session.json ? PrintJson(*report) : Print(FinishedText(*report));
}

}  // namespace

void AddRedisFinish(Command redis, Session& session) {
  auto force = std::make_shared<bool>(false);
  Command command = AddCommand(
      redis, session, "finish",
      "End a server's migration for good: the old store is neither asked nor written any more",
      Takes::kServer, [&session, force] { return Finish(session, *force); }, Collections::kOfFlag);
  command.AddFlag(
      "--force", *force,
      "Also where plays wait for the old store, it lacks some, or not everybody is known "
      "to be imported");
  command.Examples(
      {"seendb redis finish --collection video", "seendb redis finish --collection video --force"});
}

}  // namespace seendb::tool
