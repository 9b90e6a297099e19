// seendb stats: the engine's counters and gauges. Units are read off the names' endings, so that
// what a newer server adds is printed too.

#include <memory>
#include <string>
#include <string_view>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "table.h"
#include "units.h"
#include "user_count.h"

namespace seendb::tool {
namespace {

constexpr int64_t kFirstTimeMs = 100'000'000'000;  // smaller ones are spans

std::string ValueText(const std::string& name, const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_integer()) return value.dump();
  const auto number = value.get<int64_t>();
  if (number < 0) return value.dump();
  if (name.find("bytes") != std::string::npos) return FormatBytes(static_cast<uint64_t>(number));
  if (name.ends_with("_us")) return FormatDurationUs(static_cast<double>(number));
  if (name.ends_with("_ms")) {
    return number == 0 || number >= kFirstTimeMs
               ? FormatTimeMs(number)
               : FormatDurationUs(static_cast<double>(number) * 1e3);
  }
  return FormatCount(static_cast<uint64_t>(number));
}

void AddAll(const std::string& prefix, const Json& object, Facts* facts) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + key;
    if (value.is_object()) {
      AddAll(name + ".", value, facts);
    } else if (value.is_array()) {
      for (const Json& one : value) facts->Add(name, ValueText({}, one));
    } else {
      facts->Add(name, ValueText(key, value));
    }
  }
}

Status RunStats(const Session& session, bool users) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  HttpClient* server = (*database)->server();
  if (users && server != nullptr) {
    return (*database)->Close(Status::InvalidArgument(
        "--users counts what lies in a folder: name it with --db (a server may run beside)"));
  }
  auto report = server != nullptr ? server->Call({.target = "/admin/stats"})
                                  : Result<Json>(ToJson((*database)->engine()->Stats()));
  if (!report.ok()) return (*database)->Close(report.status());
  if (users) {
    auto counted = CountUsers(*(*database)->engine());
    if (!counted.ok()) return (*database)->Close(counted.status());
    (*report)["users"] = std::move(counted).value();
  }
  if (session.json) return (*database)->Close(PrintJson(*report));
  Facts facts;
  AddAll("", *report, &facts);
  return (*database)->Close(Print(facts.ToString()));
}

}  // namespace

void AddStats(Command app, Session& session) {
  auto users = std::make_shared<bool>(false);
  Command command =
      AddCommand(app, session, "stats",
                 "Show counters and gauges (a folder's counters begin at zero when it is opened)",
                 Takes::kFolderOrServer, [&session, users] { return RunStats(session, *users); });
  command.AddFlag(
      "--users", *users,
      "Count the users who have plays too (a folder's alone, --db): `total` of the drained plays, "
      "`staged` of those that are not drained yet; reads all seen filters "
      "(minutes for 100 GB) and takes 16 bytes of memory per user and collection");
  command.Examples({"seendb stats", "seendb stats --users --db db"});
}

}  // namespace seendb::tool
