// seendb collections: the collections and their policies; `put` makes or changes one.

#include <memory>
#include <string>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "table.h"
#include "units.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

struct Change {
  std::string name;
  std::string policy = "{}";
};

/// How long exact history is kept.
std::string HistoryText(const Json& collection) {
  const Json history = collection.value("history", Json::object());
  if (!FlagOf(history, "enabled")) return "-";
  return FormatCount(CountOf(history, "days")) + " days";
}

std::string Text(const Json& report) {
  Table table({{"collection"},
               {"bucket"},
               {"window", Align::kRight},
               {"retention", Align::kRight},
               {"fpr", Align::kRight},
               {"impressions", Align::kRight},
               {"served is seen"},
               {"representation"},
               {"ceiling", Align::kRight},
               {"durability"},
               {"max future", Align::kRight},
               {"utc offset"},
               {"history", Align::kRight}});
  for (const Json& one : ListOf(report, "collections")) {
    const uint64_t ceiling = CountOf(one, "max_filter_bytes");
    table.Add({TextOf(one, "name"), TextOf(one, "bucket"), FormatCount(CountOf(one, "window")),
               FormatCount(CountOf(one, "retention")), FormatPercent(NumberOf(one, "fpr")),
               FormatCount(CountOf(one, "impressions")),
               FlagOf(one, "served_is_seen") ? "yes" : "no", TextOf(one, "representation"),
               ceiling == 0 ? "default" : FormatBytes(ceiling), TextOf(one, "durability"),
               TextOf(one, "max_future"), TextOf(one, "utc_offset"), HistoryText(one)});
  }
  return table.ToString();
}

Status List(const Session& session) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  auto report = ListCollections(**database);
  if (!report.ok()) return (*database)->Close(report.status());
  return (*database)->Close(session.json ? PrintJson(*report) : Print(Text(*report)));
}

Status Put(Database& database, const Change& change) {
  if (HttpClient* server = database.server()) {
    return server
        ->Call({.method = "PUT",
                .target = "/collections/" + PercentEncode(change.name),
                .body = change.policy})
        .status();
  }
  auto patch = PolicyPatchFromJson(change.policy);
  if (!patch.ok()) return patch.status();
  return database.engine()->PutCollection(change.name, *patch);
}

Status RunPut(const Session& session, const Change& change) {
  auto database = Database::Open(session, Access::kCreate);
  if (!database.ok()) return database.status();
  Status status = (*database)->Close(Put(**database, change));
  if (!status.ok()) return status;
  return session.json ? PrintJson({{"put", change.name}})
                      : Print("collection " + change.name + " is set\n");
}

}  // namespace

void AddCollections(CLI::App& app, Session& session) {
  CLI::App& list = AddCommand(app, session, "collections",
                              "List the collections and their policies; put makes or changes one",
                              Takes::kFolderOrServer, [&session] { return List(session); });
  auto change = std::make_shared<Change>();
  CLI::App& put =
      AddCommand(list, session, "put",
                 "Make a collection or change its policy (makes the database where there is none)",
                 Takes::kFolderOrServer, [&session, change] { return RunPut(session, *change); });
  put.add_option("name", change->name, "The collection's name")->required()->type_name("NAME");
  put.add_option("policy", change->policy,
                 R"(What to set: {"bucket":"days:10","window":4}; the rest keeps its value)")
      ->type_name("JSON");
}

}  // namespace seendb::tool
