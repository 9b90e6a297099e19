// seendb redis status: how far a server's migrations from an old store are.

#include <string>
#include <string_view>
#include <vector>

#include "database.h"
#include "redis_commands.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

std::string SampleText(const Json& sample, std::string_view what) {
  return "  " + std::string(what) + ": user " + Printable(TextOf(sample, "user")) + ", item " +
         Printable(TextOf(sample, "item")) + "\n";
}

/// What does not fit a column.
std::string NotesOn(const Json& one) {
  std::string out;
  const std::string collection = TextOf(one, "collection");
  if (const std::string problem = TextOf(one, "problem"); !problem.empty()) {
    out += collection + ": the old store fails: " + Printable(problem) + "\n";
  }
  if (const uint64_t affected = CountOf(one, "affected_count"); affected != 0) {
    out += collection + ": the old store lacks plays of " + FormatCount(affected) +
           " users; to go back, write theirs anew:\n";
    for (const Json& user : ListOf(one, "affected_users")) {
      out += "  " + Printable(user.get<std::string>()) + "\n";
    }
  }
  if (const uint64_t refused = CountOf(one, "import_refused"); refused != 0) {
    out += collection + ": " + FormatCount(refused) +
           " members of users whom the server imported were not recorded (no time, no id, too old, "
           "in the future): they are unseen here\n";
  }
  for (const Json& sample : ListOf(one, "missing_samples")) out += SampleText(sample, "missing");
  for (const Json& sample : ListOf(one, "extra_samples")) out += SampleText(sample, "extra");
  return out;
}

std::string StatusText(const Json& report) {
  Table table({{"collection"},
               {"phase"},
               {"until migrated"},
               {"imported", Align::kRight},
               {"queue", Align::kRight},
               {"asked", Align::kRight},
               {"not got", Align::kRight},
               {"written", Align::kRight},
               {"waiting", Align::kRight},
               {"compared", Align::kRight},
               {"missing", Align::kRight},
               {"extra", Align::kRight}});
  std::string notes;
  for (const Json& one : ListOf(report, "collections")) {
    const auto count = [&](const char* name) { return FormatCount(CountOf(one, name)); };
    table.Add({TextOf(one, "collection"), TextOf(one, "phase"), TextOf(one, "until_migrated"),
               count("imported_users"), count("import_queue"), count("lookups"),
               count("lookups_failed"), count("written"), FormatBytes(CountOf(one, "queue_bytes")),
               count("shadow_checked"), count("shadow_missing"), count("shadow_extra")});
    notes += NotesOn(one);
  }
  return table.empty() ? "nothing moves in\n" : table.ToString() + notes;
}

/// Whom to ask as well where the server is a node of a cluster; empty: it is none.
std::string OtherNodes(const Json& cluster) {
  std::string urls;
  for (const Json& node : ListOf(cluster, "nodes")) {
    urls += (urls.empty() ? "" : ", ") + TextOf(node, "url");
  }
  return urls.empty() ? urls
                      : "each node of the cluster speaks for itself; they are " + urls + "\n";
}

Status ShowMigrations(const Session& session) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  auto report = (*server)->Call({.target = "/admin/migration"});
  if (!report.ok()) return report.status();
  if (session.json) return PrintJson(*report);
  const auto cluster = (*server)->Call({.target = "/cluster"});
  return Print(StatusText(*report) + (cluster.ok() ? OtherNodes(*cluster) : std::string()));
}

}  // namespace

void AddRedisStatus(Command redis, Session& session) {
  Command command = AddCommand(redis, session, "status",
                               "Show how far a server's migrations are: who was imported, what "
                               "was asked, written and compared",
                               Takes::kServer, [&session] { return ShowMigrations(session); });
  command.Examples({"seendb redis status", "seendb redis status --json"});
}

}  // namespace seendb::tool
