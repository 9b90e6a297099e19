// seendb collections: the collections and their policies; `get` shows one, `put` makes or changes
// one, `delete` deletes one.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
std::string HistoryText(const Json& history) {
  if (!FlagOf(history, "enabled")) return "-";
  return FormatCount(CountOf(history, "days")) + " days";
}

std::string FieldText(const std::string& name, const Json& value) {
  if (name == "history") return HistoryText(value);
  if (name == "fpr") return FormatPercent(value.get<double>());
  if (name == "max_filter_bytes") {
    const auto bytes = value.get<uint64_t>();
    return bytes == 0 ? "default" : FormatBytes(bytes);
  }
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_unsigned() ? FormatCount(value.get<uint64_t>()) : value.dump();
}

/// A row for each collection, a column for each field that one of them has: what a newer server
/// adds is printed, too.
std::string CollectionsText(const Json& report) {
  std::vector<std::string> names = {"name"};
  std::vector<Column> columns = {{"collection"}};
  for (const Json& one : ListOf(report, "collections")) {
    for (const auto& [name, value] : one.items()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      std::string heading = name;
      std::replace(heading.begin(), heading.end(), '_', ' ');
      names.push_back(name);
      columns.push_back({heading, value.is_number() ? Align::kRight : Align::kLeft});
    }
  }
  Table table(columns);
  for (const Json& one : ListOf(report, "collections")) {
    std::vector<std::string> cells;
    for (const std::string& name : names) {
      const auto value = one.find(name);
      cells.push_back(value == one.end() ? "-" : FieldText(name, *value));
    }
    table.Add(std::move(cells));
  }
  return table.ToString();
}

Status List(const Session& session) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  auto report = ListCollections(**database);
  if (!report.ok()) return (*database)->Close(report.status());
  return (*database)->Close(session.json ? PrintJson(*report) : Print(CollectionsText(*report)));
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

/// What `get` and `delete` are asked for.
struct Named {
  std::string name, confirm;
};

Status Get(const Session& session, const Named& wanted) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  auto report = ListCollections(**database);
  if (!report.ok()) return (*database)->Close(report.status());
  const Status closed = (*database)->Close({});
  if (!closed.ok()) return closed;
  for (const Json& one : ListOf(*report, "collections")) {
    if (TextOf(one, "name") != wanted.name) continue;
    return session.json ? PrintJson(one) : Print(CollectionsText({{"collections", {one}}}));
  }
  return Status::NotFound("no collection \"" + wanted.name + "\"");
}

Status Delete(Database& database, const std::string& name) {
  if (HttpClient* server = database.server()) {
    const std::string target = "/collections/" + PercentEncode(name);
    return server->Call({.method = "DELETE", .target = target + "?confirm=" + PercentEncode(name)})
        .status();
  }
  return database.engine()->DeleteCollection(name);
}

Status RunDelete(const Session& session, const Named& wanted) {
  if (wanted.confirm != wanted.name) {
    return Status::InvalidArgument(
        "deletes everything in the collection, for good; add --confirm " + wanted.name);
  }
  auto database = Database::Open(session, Access::kWrite);
  if (!database.ok()) return database.status();
  Status status = (*database)->Close(Delete(**database, wanted.name));
  if (!status.ok()) return status;
  return session.json ? PrintJson({{"deleted", wanted.name}})
                      : Print("collection " + wanted.name + " is deleted\n");
}

}  // namespace

void AddCollections(Command app, Session& session) {
  Command list = AddCommand(app, session, "collections",
                            "List the collections and their policies; get, put or delete one",
                            Takes::kFolderOrServer, [&session] { return List(session); });
  auto change = std::make_shared<Change>();
  Command put =
      AddCommand(list, session, "put",
                 "Make a collection or change its policy (makes the database where there is none)",
                 Takes::kFolderOrServer, [&session, change] { return RunPut(session, *change); });
  put.Add("name", change->name, "The collection's name").Required().TypeName("NAME");
  list.Examples({"seendb collections", "seendb collections --db db --json"});
  put.Examples({R"(seendb collections put article '{"bucket":"days:10","window":4}')",
                R"(seendb collections put video '{"history":{"enabled":true}}' --db db)"});
  put.Add("policy", change->policy,
          R"(What to set: {"bucket":"days:10","window":4}; the rest keeps its value)")
      .TypeName("JSON");

  auto wanted = std::make_shared<Named>();
  Command get =
      AddCommand(list, session, "get", "Show one collection and its policy", Takes::kFolderOrServer,
                 [&session, wanted] { return Get(session, *wanted); });
  get.Add("name", wanted->name, "The collection's name").Required().TypeName("NAME");
  get.Examples({"seendb collections get default --json"});
  Command gone = AddCommand(
      list, session, "delete", "Delete a collection with all that it holds, for good",
      Takes::kFolderOrServer, [&session, wanted] { return RunDelete(session, *wanted); });
  gone.Add("name", wanted->name, "The collection's name").Required().TypeName("NAME");
  gone.Add("--confirm", wanted->confirm, "The name once more").TypeName("NAME");
  gone.Examples({"seendb collections delete article --confirm article"});
}

}  // namespace seendb::tool
