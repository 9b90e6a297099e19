// seendb ring: every slot of every shard's time wheel.

#include <string>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

std::string RingsText(const Json& report) {
  Table table({{"shard", Align::kRight},
               {"slot", Align::kRight},
               {"state"},
               {"turns", Align::kRight},
               {"opened (UTC)"},
               {"users", Align::kRight},
               {"plays", Align::kRight},
               {"memory", Align::kRight}});
  uint64_t plays = 0;
  uint64_t bytes = 0;
  for (const Json& slot : ListOf(report, "slots")) {
    plays += CountOf(slot, "plays");
    bytes += CountOf(slot, "bytes");
    table.Add({FormatCount(CountOf(slot, "shard")), FormatCount(CountOf(slot, "slot")),
               TextOf(slot, "state"), FormatCount(CountOf(slot, "generation")),
               FormatTimeMs(TimeOf(slot, "opened_ms")), FormatCount(CountOf(slot, "users")),
               FormatCount(CountOf(slot, "plays")), FormatBytes(CountOf(slot, "bytes"))});
  }
  return table.ToString() + FormatCount(plays) + " plays, " + FormatBytes(bytes) + " in memory\n";
}

Status RunRing(const Session& session) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  HttpClient* server = (*database)->server();
  auto report = server != nullptr ? server->Call({.target = "/admin/ring"})
                                  : Result<Json>(ToJson((*database)->engine()->Ring()));
  if (!report.ok()) return (*database)->Close(report.status());
  return (*database)->Close(session.json ? PrintJson(*report) : Print(RingsText(*report)));
}

}  // namespace

void AddRing(Command app, Session& session) {
  Command command =
      AddCommand(app, session, "ring", "List the slots that stage plays: state, plays, memory",
                 Takes::kFolderOrServer, [&session] { return RunRing(session); });
  command.Examples({"seendb ring", "seendb ring --db db"});
}

}  // namespace seendb::tool
