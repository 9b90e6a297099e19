// seendb history USER [ITEM...]: what a user watched; deletes from it, pauses it.

#include "seendb/history.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "maintenance.h"
#include "report_json.h"
#include "table.h"
#include "units.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

struct HistoryCall {
  std::string user;
  std::vector<std::string> items;
  PageQuery page;
  bool erase = false, clear = false, pause = false, resume = false, recording = false;
  bool filter = false;  // of a clear
};

/// --collection a,b.
std::vector<std::string> Names(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; !list.empty() && at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    names.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return names;
}

std::string ProgressText(const Json& entry) {
  const int64_t progress = TimeOf(entry, "progress_s");
  if (progress == kFinished) return "finished";
  return progress == 0 ? "-" : FormatDurationUs(static_cast<double>(progress) * 1e6);
}

std::string LengthText(const Json& entry) {
  const int64_t seconds = TimeOf(entry, "duration_s");
  return seconds == 0 ? "-" : FormatDurationUs(static_cast<double>(seconds) * 1e6);
}

std::string EntriesText(const Json& answer) {
  Table table({{"at"},
               {"collection"},
               {"item"},
               {"progress", Align::kRight},
               {"of", Align::kRight},
               {"device"},
               {"fields", Align::kRight}});
  for (const Json& entry : ListOf(answer, "entries")) {
    const bool fields = entry.contains("fields");
    table.Add({FormatTimeMs(TimeOf(entry, "at")), TextOf(entry, "collection"),
               TextOf(entry, "item"), ProgressText(entry), LengthText(entry),
               TextOf(entry, "device"),
               fields ? FormatBytes(OneLine(entry["fields"]).size()) : "-"});
  }
  std::string out = table.empty() ? "nothing\n" : table.ToString();
  if (FlagOf(answer, "degraded")) {
    out += "degraded: entries may be missing; could not read";
    for (const Json& part : ListOf(answer, "missing")) {
      if (part.is_string()) out += " " + Printable(part.get<std::string>());
    }
    out += "\n";
  }
  const std::string cursor = TextOf(answer, "cursor");
  if (!cursor.empty()) out += "more: --cursor " + cursor + "\n";
  return out;
}

std::string RecordingText(const Json& recording) {
  const int64_t since = TimeOf(recording, "since_ms");
  const std::string state = FlagOf(recording, "paused") ? "paused" : "recording";
  return state + (since == 0 ? "" : " since " + FormatTimeMs(since)) + "\n";
}

Status Show(const Session& session, const HistoryCall& call) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  PageQuery query = call.page;
  query.collections = Names(session.collection);
  auto answer = call.recording ? ReadRecording(**database, call.user)
                : call.items.empty()
                    ? ReadHistoryPage(**database, call.user, query)
                    : LookUpHistory(**database, call.user, CollectionOf(session), call.items);
  if (!answer.ok()) return (*database)->Close(answer.status());
  // A server says in its answer what a folder refuses.
  const bool none_kept = answer->contains("kept") && !FlagOf(*answer, "kept");
  if (none_kept && (!call.items.empty() || !query.collections.empty())) {
    const std::string named =
        session.collection.empty() ? CollectionOf(session) : session.collection;
    return (*database)->Close(Status::NotFound("no history is kept in " + named));
  }
  if (session.json) return (*database)->Close(PrintJson(*answer));
  return (*database)->Close(Print(call.recording ? RecordingText(*answer) : EntriesText(*answer)));
}

Status Delete(const Session& session, const HistoryCall& call) {
  if (call.items.empty()) return Status::InvalidArgument("--delete: say which items");
  const std::string collection = CollectionOf(session);
  const std::string body = OneLine({{"items", call.items}, {"collection", collection}});
  const std::string target = "/users/" + PercentEncode(call.user) + "/history/delete";
  return Perform(session, {.request = {.method = "POST", .target = target, .body = body},
                           .engine =
                               [&](Engine& engine) {
                                 const std::vector<IdRef> ids(call.items.begin(), call.items.end());
                                 return engine.DeleteHistory(IdRef(call.user), collection, ids);
                               },
                           .done = "deleted"});
}

Status Clear(const Session& session, const HistoryCall& call) {
  const std::vector<std::string> names = Names(session.collection);
  Json body = Json::object();
  if (!names.empty()) body["collections"] = names;
  if (call.filter) body["filter"] = true;
  const std::string target = "/users/" + PercentEncode(call.user) + "/history/clear";
  return Perform(session,
                 {.request = {.method = "POST", .target = target, .body = OneLine(body)},
                  .engine =
                      [&](Engine& engine) {
                        const std::vector<std::string_view> views(names.begin(), names.end());
                        return engine.ClearHistory(IdRef(call.user),
                                                   {.collections = views, .filter = call.filter});
                      },
                  .done = std::string("cleared the history ") +
                          (call.filter ? "and the filter " : "") + "of " + Printable(call.user)});
}

Status SetPaused(const Session& session, const HistoryCall& call, bool paused) {
  const std::string body = OneLine({{"paused", paused}});
  const std::string target = "/users/" + PercentEncode(call.user) + "/recording";
  return Perform(
      session,
      {.request = {.method = "PUT", .target = target, .body = body},
       .engine = [&](Engine& engine) { return engine.SetRecording(IdRef(call.user), paused); },
       .done =
           (paused ? "paused the history of " : "resumed the history of ") + Printable(call.user)});
}

Status RunHistory(const Session& session, const HistoryCall& call) {
  const int operations = call.erase + call.clear + call.pause + call.resume + call.recording;
  if (operations > 1) {
    return Status::InvalidArgument(
        "--delete, --clear, --pause, --resume and --recording exclude each other");
  }
  if (call.erase) return Delete(session, call);
  if (!call.items.empty() && operations > 0) {
    return Status::InvalidArgument("items are for a look-up or --delete");
  }
  if (call.clear) return Clear(session, call);
  if (call.pause || call.resume) return SetPaused(session, call, call.pause);
  return Show(session, call);
}

}  // namespace

void AddHistory(Command app, Session& session) {
  auto call = std::make_shared<HistoryCall>();
  Command command = AddCommand(
      app, session, "history",
      "Show what a user watched, newest first, or where the player is in some items; delete from "
      "it, pause it. --collection takes several names (a,b)",
      Takes::kFolderOrServer, [&session, call] { return RunHistory(session, *call); },
      Collections::kOfFlag);
  command.Add("user", call->user, "The user's id").Required().TypeName("USER");
  command.Add("items", call->items, "Only these items").TypeName("ITEM...");
  command.Add("--limit", call->page.limit, "Entries of a page")
      .TypeName("N")
      .Range(1, kMaxHistoryLimit);
  command.Add("--cursor", call->page.cursor, "The page that follows another")
      .TypeName("CURSOR")
      .NotEmpty();
  command.AddFlag("--delete", call->erase, "Delete the items from the history");
  const Option clear =
      command.AddFlag("--clear", call->clear, "Delete everything from the history");
  command
      .AddFlag("--filter", call->filter,
               "With --clear: forget plays and impressions too, so that the items are unseen again")
      .Needs(clear);
  command.AddFlag("--pause", call->pause, "Keep plays out of the history from now on");
  command.AddFlag("--resume", call->resume, "Let plays into the history again");
  command.AddFlag("--recording", call->recording, "Tell whether the history is paused");
  command.Examples({"seendb history u1 --limit 5",
                    "seendb history u1 v1 v2               # where the player is",
                    "seendb history u1 --delete v1", "seendb history u1 --pause"});
}

}  // namespace seendb::tool
