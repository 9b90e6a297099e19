// seendb redis finish: ends a server's migration from an old store.

#include <memory>
#include <string>

#include "redis_commands.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

/// What was lost, of that collection; of all where it is empty.
std::string FinishedText(const Json& report, const std::string& collection) {
  std::string out;
  for (const Json& one : ListOf(report, "collections")) {
    if (TextOf(one, "phase") != "finished") continue;
    if (!collection.empty() && TextOf(one, "collection") != collection) continue;
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

struct FinishFlags {
  bool all = false, force = false;
};

Status Finish(const Session& session, const FinishFlags& flags) {
  if (flags.all && !session.collection.empty()) {
    return Status::InvalidArgument("--all and --collection exclude each other");
  }
  const std::string collection = flags.all ? "" : CollectionOf(session);
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  Json body = Json::object();
  if (!flags.all) body["collection"] = collection;
  if (flags.force) body["force"] = true;
  auto report =
      (*server)->Call({.method = "POST", .target = "/admin/migration/finish", .body = body.dump()});
  if (!report.ok()) return report.status();
  return session.json ? PrintJson(*report) : Print(FinishedText(*report, collection));
}

}  // namespace

void AddRedisFinish(Command redis, Session& session) {
  auto flags = std::make_shared<FinishFlags>();
  Command command = AddCommand(
      redis, session, "finish",
      "End a server's migration for good: the old store is neither asked nor written any more",
      Takes::kServer, [&session, flags] { return Finish(session, *flags); }, Collections::kOfFlag);
  command.AddFlag("--all", flags->all, "The migrations of all collections");
  command.AddFlag(
      "--force", flags->force,
      "Also where plays wait for the old store, it lacks some, or not everybody is known "
      "to be imported");
  command.Examples(
      {"seendb redis finish --collection video", "seendb redis finish --collection video --force"});
}

}  // namespace seendb::tool
