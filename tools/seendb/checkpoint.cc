// seendb checkpoint: a copy of the database that can be opened, taken while it is written to.

#include <chrono>
#include <memory>
#include <string>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "seendb/item_store.h"
#include "seendb/set_store.h"
#include "units.h"

namespace seendb::tool {
namespace {

std::string Text(const Json& report) {
  const auto number = [&](const char* name) { return CountOf(report, name); };
  return FormatCount(number("shards")) + " shards, " + FormatCount(number("files_linked")) +
         " files linked and " + FormatCount(number("files_copied")) + " copied, " +
         FormatBytes(number("bytes")) + " of which " + FormatBytes(number("bytes_copied")) +
         " written, in " + FormatDurationUs(static_cast<double>(number("took_ms")) * 1e3) + "\n";
}

/// The stores beside the shards of the database.
Status CopyStores(const std::string& db, const std::string& folder) {
  Status copied = ItemStore::Copy(db + "/items", folder + "/items");
  if (!copied.ok() && copied.code() != StatusCode::kNotFound) return copied;
  copied = SetStore::Copy(db + "/sets", folder + "/sets");
  return copied.code() == StatusCode::kNotFound ? Status() : copied;
}

Result<Json> Take(const Session& session, Database& database, const std::string& target) {
  if (database.server() != nullptr) {
    const std::string body =
        Json({{"name", target}}).dump(-1, ' ', false, Json::error_handler_t::replace);
    return database.server()->Call({.method = "POST", .target = "/admin/checkpoint", .body = body});
  }
  const auto begin = std::chrono::steady_clock::now();
  const Result<CheckpointReport> report = database.engine()->Checkpoint(
      target, [&](const std::string& folder) { return CopyStores(session.db, folder); });
  if (!report.ok()) return report.status();
  const auto took = std::chrono::steady_clock::now() - begin;
  Json json = ToJson(*report);
  json["took_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
  return json;
}

Status RunCheckpoint(const Session& session, const std::string& target) {
  auto database = Database::Open(session, Access::kWrite);
  if (!database.ok()) return database.status();
  const Result<Json> report = Take(session, **database, target);
  const Status status = (*database)->Close(report.status());
  if (!status.ok()) return status;
  return session.json ? PrintJson(*report) : Print(Text(*report));
}

}  // namespace

void AddCheckpoint(Command app, Session& session) {
  auto target = std::make_shared<std::string>();
  Command command = AddCommand(
      app, session, "checkpoint",
      "Copy the database, as it is now, into a new folder; start on it to restore",
      Takes::kFolderOrServer, [&session, target] { return RunCheckpoint(session, *target); });
  command
      .Add("target", *target,
           "With --db the new folder, with --url its name below the server's checkpoints "
           "folder")
      .Required()
      .TypeName("FOLDER|NAME");
  command.Examples(
      {"seendb checkpoint monday          # in the folder of the server's --checkpoints",
       "seendb checkpoint --db db copy    # into the new folder copy"});
}

}  // namespace seendb::tool
