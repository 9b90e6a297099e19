// seendb repair: the way back from damaged files, with the database out of use.

#include "seendb/repair.h"

#include <memory>
#include <string>

#include "base/clock.h"
#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "seams.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

std::string Text(const RepairReport& report) {
  if (report.files.empty()) return "nothing to repair\n";
  std::string out = FormatCount(report.files.size()) +
                    (report.dry_run ? " files would be repaired; nothing was changed\n\n"
                                    : " files repaired\n\n");
  Table table({{"file"},
               {"what"},
               {"action"},
               {"salvaged", Align::kRight},
               {"bytes left", Align::kRight},
               {"kept as"}});
  for (const RepairedFile& one : report.files) {
    table.Add({one.damage.file, one.damage.kind, one.action, FormatCount(one.salvaged),
               FormatCount(one.bytes_left), one.kept_as});
  }
  out += table.ToString();
  for (const std::string& loss : report.losses) {
    out += "lost, answers that may lack it say degraded: " + Printable(loss) + "\n";
  }
  if (report.losses.empty() && report.notes.empty() && !report.dry_run) out += "nothing was lost\n";
  for (const std::string& note : report.notes) out += Printable(note) + "\n";
  return out;
}

Status RunRepair(const Session& session, RepairOptions options) {
  if (session.db.empty()) return Status::InvalidArgument("say --db DIR");
  options.as_found = IsOfNode(session.db);
  auto clock = ClockOf(session);
  if (!clock.ok()) return clock.status();
  Seams seams;
  seams.clock = clock->get();
  const auto report = Repair(session.db, options, seams);
  if (!report.ok()) return report.status();
  return session.json ? PrintJson(ToJson(*report)) : Print(Text(*report));
}

}  // namespace

void AddRepair(Command app, Session& session) {
  auto options = std::make_shared<RepairOptions>();
  Command command = AddCommand(
      app, session, "repair",
      "Make a database with damaged files one that opens, of all that can be read; what is lost is "
      "marked, what is damaged is kept in DIR/damaged. The server must be stopped",
      Takes::kFolder, [&session, options] { return RunRepair(session, *options); });
  command.Add("dir", session.db, "The database's folder, as by --db").TypeName("DIR");
  command.AddFlag("--dry-run", options->dry_run, "Say what would be done, change nothing");
  command.Examples({"seendb repair db --dry-run", "seendb repair db"});
}

}  // namespace seendb::tool
