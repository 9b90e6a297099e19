// seendb inspect USER: everything held about a user.

#include <algorithm>
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

/// A value's remarks: what is unusual about it.
std::string Remarks(const Json& part) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (part.contains("readable") && !FlagOf(part, "readable")) {
    add("unreadable: " + TextOf(part, "error"));
  }
  if (CountOf(part, "damaged") != 0) add(FormatCount(CountOf(part, "damaged")) + " damaged parts");
  if (CountOf(part, "dropped_layers") != 0) {
    add(FormatCount(CountOf(part, "dropped_layers")) + " layers dropped at the ceiling");
  }
  return out;
}

/// Set bits / bits over all layers, which need not be of one size.
std::string FillOf(const Json& bucket) {
  double set = 0;
  double blocks = 0;
  for (const Json& layer : ListOf(bucket, "layers")) {
    set += NumberOf(layer, "fill") * NumberOf(layer, "blocks");
    blocks += NumberOf(layer, "blocks");
  }
  return blocks == 0 ? "-" : FormatPercent(set / blocks);
}

std::string FiltersText(const Json& report) {
  Table table({{"collection"},
               {"bucket"},
               {"form"},
               {"items", Align::kRight},
               {"in list", Align::kRight},
               {"layers", Align::kRight},
               {"fill", Align::kRight},
               {"est. fpr", Align::kRight},
               {"bytes", Align::kRight},
               {"bytes/item", Align::kRight},
               {"as of"},
               {"remarks"}});
  for (const Json& bucket : ListOf(report, "buckets")) {
    const double items = NumberOf(bucket, "items");
    char per_item[32];
    std::snprintf(per_item, sizeof(per_item), "%.2f", NumberOf(bucket, "bytes") / items);
    table.Add({TextOf(bucket, "collection"), TextOf(bucket, "bucket"), TextOf(bucket, "form"),
               FormatCount(CountOf(bucket, "items")), FormatCount(CountOf(bucket, "list_items")),
               FormatCount(ListOf(bucket, "layers").size()), FillOf(bucket),
               FormatPercent(NumberOf(bucket, "fpr")), FormatBytes(CountOf(bucket, "bytes")),
               items > 0 ? per_item : "-", FormatTimeMs(TimeOf(bucket, "as_of_ms")),
               Remarks(bucket)});
  }
  return table.empty() ? "no drained plays\n" : table.ToString();
}

std::string LayersText(const Json& report) {
  Table table({{"collection"},
               {"bucket"},
               {"layer", Align::kRight},
               {"items", Align::kRight},
               {"capacity", Align::kRight},
               {"bytes", Align::kRight},
               {"fill", Align::kRight},
               {"est. fpr", Align::kRight}});
  for (const Json& bucket : ListOf(report, "buckets")) {
    uint64_t number = 0;
    for (const Json& layer : ListOf(bucket, "layers")) {
      table.Add({TextOf(bucket, "collection"), TextOf(bucket, "bucket"), FormatCount(++number),
                 FormatCount(CountOf(layer, "items")), FormatCount(CountOf(layer, "capacity")),
                 FormatBytes(CountOf(layer, "blocks") * 64), FormatPercent(NumberOf(layer, "fill")),
                 FormatPercent(NumberOf(layer, "fpr"))});
    }
  }
  return table.empty() ? "" : "\nBloom layers\n" + table.ToString();
}

std::string RingText(const Json& report) {
  Table table(
      {{"collection"}, {"bucket"}, {"slot", Align::kRight}, {"state"}, {"plays", Align::kRight}});
  for (const Json& staged : ListOf(report, "ring")) {
    table.Add({TextOf(staged, "collection"), TextOf(staged, "bucket"),
               FormatCount(CountOf(staged, "slot")),
               FlagOf(staged, "drained") ? "drained" : "staged",
               FormatCount(CountOf(staged, "items"))});
  }
  return "\nRing\n" + (table.empty() ? "nothing staged\n" : table.ToString());
}

// Impressions, or exposures.
Table ListTable(const Json& report, const char* member) {
  Table table({{"collection"}, {"entries", Align::kRight}, {"newest"}, {"oldest"}, {"remarks"}});
  for (const Json& one : ListOf(report, member)) {
    const Json& entries = ListOf(one, "entries");
    if (entries.empty() && Remarks(one).empty()) continue;
    table.Add({TextOf(one, "collection"), FormatCount(entries.size()),
               entries.empty() ? "-" : FormatTimeMs(TimeOf(entries.front(), "at_ms")),
               entries.empty() ? "-" : FormatTimeMs(TimeOf(entries.back(), "at_ms")),
               Remarks(one)});
  }
  return table;
}

std::string ImpressionsText(const Json& report) {
  const Table served = ListTable(report, "impressions");
  const Table exposed = ListTable(report, "exposures");
  return "\nImpressions\n" + (served.empty() ? "none\n" : served.ToString()) +
         (exposed.empty() ? "" : "\nExposures\n" + exposed.ToString());
}

std::string KeptHistoryText(const Json& report) {
  Table table({{"collection"},
               {"bucket"},
               {"items", Align::kRight},
               {"deleted", Align::kRight},
               {"rows", Align::kRight},
               {"bytes", Align::kRight},
               {"remarks"}});
  for (const Json& one : ListOf(report, "history")) {
    table.Add({TextOf(one, "collection"), TextOf(one, "bucket"), FormatCount(CountOf(one, "items")),
               FormatCount(CountOf(one, "deleted")), FormatCount(CountOf(one, "rows")),
               FormatBytes(CountOf(one, "bytes")), Remarks(one)});
  }
  return table.empty() ? "" : "\nHistory (see also: seendb history)\n" + table.ToString();
}

std::string UserText(const Json& report) {
  std::string out = "user " + Printable(TextOf(report, "user")) + ", shard " +
                    FormatCount(CountOf(report, "shard"));
  if (report.contains("erased_at_ms") && !report["erased_at_ms"].is_null()) {
    out += ", erased " + FormatTimeMs(TimeOf(report, "erased_at_ms"));
  }
  const Json forgotten = report.value("forgotten_at_ms", Json::object());
  for (const auto& [collection, at] : forgotten.items()) {
    out += ", filter of " + collection + " cleared " + FormatTimeMs(TimeOf(forgotten, collection));
  }
  if (FlagOf(report, "paused")) out += ", history paused";
  if (const uint64_t marked = CountOf(report, "marked_groups"); marked > 0) {
    out += ", " + FormatCount(marked) + " marked groups";
  }
  if (const uint64_t sets = CountOf(report, "own_sets"); sets > 0) {
    out += ", " + FormatCount(sets) + " own sets";
  }
  const Json days = report.value("last_active_day", Json::object());
  for (const auto& [collection, day] : days.items()) {
    if (day.is_string()) out += ", last active in " + collection + " " + day.get<std::string>();
  }
  return out + "\n\nSeen filters\n" + FiltersText(report) + LayersText(report) + RingText(report) +
         ImpressionsText(report) + KeptHistoryText(report);
}

Status RunInspect(const Session& session, const std::string& user) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  auto report = InspectUser(**database, user, session.collection);
  if (!report.ok()) return (*database)->Close(report.status());
  return (*database)->Close(session.json ? PrintJson(*report) : Print(UserText(*report)));
}

}  // namespace

void AddInspect(Command app, Session& session) {
  auto user = std::make_shared<std::string>();
  Command command = AddCommand(
      app, session, "inspect",
      "Show what is held about a user: filters, staged plays, impressions, history by bucket",
      Takes::kFolderOrServer, [&session, user] { return RunInspect(session, *user); },
      Collections::kOfFlag);
  command.Add("user", *user, "The user's id").Required().TypeName("USER");
  command.Examples({"seendb inspect u1", "seendb inspect u1 --db db --json"});
}

}  // namespace seendb::tool
