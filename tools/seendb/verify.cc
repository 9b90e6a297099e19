// seendb verify: checks every file, then decodes and checks every value; the exit code tells.

#include <memory>
#include <string>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "seendb/repair.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

std::string Text(const VerifyReport& report) {
  std::string out =
      FormatCount(report.keys) + " keys, " + FormatBytes(report.bytes) + " read and checked: ";
  if (report.damages.empty()) return out + "all sound\n";
  out += FormatCount(report.damaged) + " damaged";
  if (report.newer > 0) out += ", " + FormatCount(report.newer) + " of newer versions";
  out += "\n\n";
  Table table({{"shard", Align::kRight}, {"family"}, {"key"}, {"damage"}});
  for (const DamageReport& damage : report.damages) {
    table.Add({FormatCount(damage.shard), damage.family, damage.key, damage.reason});
  }
  out += table.ToString();
  const uint64_t found = report.damaged + report.newer;
  if (found > report.damages.size()) {
    out += "and " + FormatCount(found - report.damages.size()) + " more\n";
  }
  return out;
}

std::string Text(const FilesReport& report) {
  std::string out =
      FormatCount(report.files) + " files, " + FormatBytes(report.bytes) + " read and checked: ";
  if (report.damages.empty()) return out + "all sound\n";
  out += FormatCount(report.damages.size()) + " damaged\n\n";
  Table table({{"file"}, {"what"}, {"at", Align::kRight}, {"family"}, {"detail"}});
  for (const FileDamage& damage : report.damages) {
    table.Add({damage.file, damage.kind, damage.offset ? std::to_string(*damage.offset) : "",
               damage.family, Printable(damage.detail)});
  }
  return out + table.ToString();
}

/// The findings on rows of items and sets; nothing where there is neither.
std::string Text(const StoresReport& report) {
  if (report.stores.empty()) return "";
  std::string out;
  for (const std::string& store : report.stores) out += (out.empty() ? "" : " and ") + store;
  out += ": " + FormatCount(report.rows) + " rows, " + FormatBytes(report.bytes) +
         " read and checked: ";
  if (report.damages.empty()) return out + "all sound\n";
  out += FormatCount(report.damaged) + " damaged";
  if (report.newer > 0) out += ", " + FormatCount(report.newer) + " of newer versions";
  out += "\n\n";
  Table table({{"of"}, {"name"}, {"damage"}});
  for (const StoreDamage& damage : report.damages) {
    table.Add({damage.store, Printable(damage.name), Printable(damage.reason)});
  }
  return out + table.ToString();
}

/// Adds what the items and sets in the folder say.
Status LookAtStores(const std::string& db, Json* json, std::string* text, std::string* wrong,
                    uint64_t* newer) {
  const auto stores = VerifyStores(db);
  if (!stores.ok()) return stores.status();
  if (!stores->stores.empty()) (*json)["stores"] = ToJson(*stores);
  *text += Text(*stores);
  *newer += stores->newer;
  if (stores->damaged != 0) {
    *wrong += (wrong->empty() ? "" : "; ") + FormatCount(stores->damaged) +
              " damaged rows of items or sets";
  }
  return {};
}

/// Values are only looked at where the database opens in spite of its files.
Status RunVerify(const Session& session) {
  if (session.db.empty()) return Status::InvalidArgument("say --db DIR");
  const auto files = VerifyFiles(session.db, IsOfNode(session.db));
  if (!files.ok()) return files.status();
  Json json = {{"files", ToJson(*files)}};
  std::string text = Text(*files);
  std::string wrong;
  if (!files->damages.empty()) {
    wrong = FormatCount(files->damages.size()) + " damaged files, the first " + session.db + "/" +
            files->damages[0].file;
  }
  uint64_t newer = 0;
  Status outcome;
  auto database = Database::Open(session, Access::kReadDamaged);
  if (database.ok()) {
    auto values = (*database)->engine()->Verify();
    if (values.ok()) {
      json.update(ToJson(*values));
      text += Text(*values);
      if (values->damaged != 0) {
        wrong += (wrong.empty() ? "" : "; ") + FormatCount(values->damaged) + " damaged keys";
      }
      newer = values->newer;
    }
    outcome = (*database)->Close(values.status());
  } else {
    outcome = database.status();
  }
  if (Status looked = LookAtStores(session.db, &json, &text, &wrong, &newer); outcome.ok()) {
    outcome = looked;
  }
  if (!outcome.ok() && !wrong.empty()) {
    text += "the values were not all read: " + std::string(outcome.message()) + "\n";
    json["values_unread"] = outcome.message();
    outcome = {};
  }
  const Status printed = session.json ? PrintJson(json) : Print(text);
  if (!printed.ok() || !outcome.ok()) return printed.ok() ? outcome : printed;
  if (wrong.empty() && newer > 0) {
    return Status::Incompatible(FormatCount(newer) +
                                " keys of newer versions: use the software that wrote them");
  }
  if (wrong.empty()) return {};
  return Status::Corruption(wrong + (files->damages.empty() ? "" : "; run: seendb repair"));
}

}  // namespace

void AddVerify(Command app, Session& session) {
  Command command = AddCommand(app, session, "verify",
                               "Read and check every file and every value, changing nothing; "
                               "exit code 4 if anything is damaged, which is named",
                               Takes::kFolder, [&session] { return RunVerify(session); });
  command.Add("dir", session.db, "The database's folder, as by --db").TypeName("DIR");
  command.Examples({"seendb verify db"});
}

}  // namespace seendb::tool
