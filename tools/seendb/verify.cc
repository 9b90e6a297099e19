// seendb verify: decodes and checks every value; the exit code tells.

#include <string>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

std::string Text(const VerifyReport& report) {
  std::string out =
      FormatCount(report.keys) + " keys, " + FormatBytes(report.bytes) + " read and checked: ";
  if (report.damaged == 0) return out + "all sound\n";
  out += FormatCount(report.damaged) + " damaged\n\n";
  Table table({{"shard", Align::kRight}, {"family"}, {"key"}, {"damage"}});
  for (const DamageReport& damage : report.damages) {
    table.Add({FormatCount(damage.shard), damage.family, damage.key, damage.reason});
  }
  out += table.ToString();
  if (report.damaged > report.damages.size()) {
    out += "and " + FormatCount(report.damaged - report.damages.size()) + " more\n";
  }
  return out;
}

Status Run(const Session& session) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  auto report = (*database)->engine()->Verify();
  if (!report.ok()) return (*database)->Close(report.status());
  Status status = session.json ? PrintJson(ToJson(*report)) : Print(Text(*report));
  if (status.ok() && report->damaged != 0) {
    status = Status::Corruption(FormatCount(report->damaged) + " damaged keys");
  }
  return (*database)->Close(status);
}

}  // namespace

void AddVerify(CLI::App& app, Session& session) {
  AddCommand(app, session, "verify",
             "Read, decode and check every value; exit code 4 if any is damaged", Takes::kFolder,
             [&session] { return Run(session); });
}

}  // namespace seendb::tool
