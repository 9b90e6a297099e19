// seendb scan: the keys of the database, decoded.

#include <cstdint>
#include <memory>
#include <string>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

struct Selection {
  std::string prefix;
  uint64_t limit = 0;
};

std::string Line(const ScanRow& row) {
  return std::to_string(row.shard) + "  " + Printable(row.family) + "  " + Printable(row.key) +
         "  " + FormatBytes(row.bytes) + "  " + Printable(row.value) + "\n";
}

std::string JsonLine(const ScanRow& row) {
  return ToJson(row).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status RunScan(const Session& session, const Selection& selection) {
  if (session.db.empty()) return Status::InvalidArgument("say --db DIR");
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  uint64_t rows = 0;
  Status printed;
  Status scanned = (*database)->engine()->Scan(selection.prefix, [&](const ScanRow& row) {
    printed = Print(session.json ? JsonLine(row) : Line(row));
    ++rows;
    return printed.ok() && rows != selection.limit;
  });
  return (*database)->Close(printed.ok() ? scanned : printed);
}

}  // namespace

void AddScan(Command app, Session& session) {
  auto selection = std::make_shared<Selection>();
  Command command =
      AddCommand(app, session, "scan",
                 "Print the keys, one per line: shard, family, key, bytes, value (with --json one "
                 "object per line)",
                 Takes::kFolder, [&session, selection] { return RunScan(session, *selection); });
  command
      .Add("--prefix", selection->prefix,
           "Only families whose name begins so: seen/video/, impressions/, users, ring/")
      .TypeName("TEXT");
  command.Add("--limit", selection->limit, "Stop after that many keys; 0: all").TypeName("N");
  command.Examples({"seendb scan --db db --prefix seen/ --limit 10"});
}

}  // namespace seendb::tool
