// seendb sets: the named sets of items of a running server; `verify` looks at those of a folder.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "byte_source.h"
#include "commands.h"
#include "patient_send.h"
#include "record_reader.h"
#include "report_json.h"
#include "seendb/set_store.h"
#include "table.h"
#include "units.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

struct SetsGetFlags {
  std::string name;
  uint64_t limit = kMaxSetItems;
};
struct SetsPutFlags {
  std::string name, file;
};

std::string SetTarget(const std::string& name) { return "/sets/" + PercentEncode(name); }

Result<Json> AskSets(const Session& session, const HttpRequest& request) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  return (*server)->Call(request);
}

Status PrintSets(const Session& session) {
  const auto sets = AskSets(session, {.target = "/sets"});
  if (!sets.ok()) return sets.status();
  if (session.json) return PrintJson(*sets);
  Table table({{"set"}, {"ids", Align::kRight}, {"memory", Align::kRight}, {"damaged"}});
  for (const Json& set : ListOf(*sets, "sets")) {
    table.Add({Printable(TextOf(set, "name")), FormatCount(CountOf(set, "count")),
               FormatBytes(CountOf(set, "bytes")), FlagOf(set, "damaged") ? "yes" : "no"});
  }
  return Print(table.ToString() + FormatBytes(CountOf(*sets, "bytes")) + " of " +
               FormatBytes(CountOf(*sets, "bytes_limit")) + "\n");
}

/// Prints the ids, a line each, page by page.
Status SetsGet(const Session& session, const SetsGetFlags& flags) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  Json all;
  std::string cursor;
  uint64_t left = flags.limit;
  do {
    std::string target = SetTarget(flags.name);
    target += "?limit=" + std::to_string(std::min<uint64_t>(left, kMaxSetPage));
    if (!cursor.empty()) target += "&cursor=" + PercentEncode(cursor);
    const auto page = (*server)->Call({.target = target});
    if (!page.ok()) return page.status();
    cursor = TextOf(*page, "cursor");
    const Json ids = ListOf(*page, "items");
    left -= std::min<uint64_t>(left, ids.size());
    std::string text;
    for (const Json& id : ids) text += Printable(id.get<std::string>()) + "\n";
    if (all.is_null()) {
      all = *page;
    } else if (session.json) {
      for (const Json& id : ids) all["items"].push_back(id);
    }
    if (session.json) continue;
    if (Status printed = Print(text); !printed.ok()) return printed;
  } while (!cursor.empty() && left > 0);
  if (!session.json) return {};
  all.erase("cursor");
  if (!cursor.empty()) all["cursor"] = cursor;
  return PrintJson(all);
}

/// The ids of a file as lines for the server, an id each: their numbers are those of the file.
Status ReadSet(const std::string& file, std::string* lines) {
  auto source = ByteSource::Open(file);
  if (!source.ok()) return source.status();
  RecordReader reader([&](char* to, size_t size) { return (*source)->Read(to, size); },
                      {.delimiter = '\n', .quoted = false});
  std::span<char> line;
  for (size_t ids = 0;; ++ids) {
    const RecordKind kind = reader.Next(&line);
    if (kind == RecordKind::kFailed) return reader.status();
    if (kind == RecordKind::kEnd && ids == 0) lines->append("{\"items\":[]}\n");
    if (kind == RecordKind::kEnd) return {};
    if (kind != RecordKind::kRecord || line.size() > kMaxIdBytes) {
      return Status::InvalidArgument(file + ": id " + std::to_string(ids + 1) + " is longer than " +
                                     std::to_string(kMaxIdBytes) + " bytes");
    }
    if (ids == kMaxSetItems) {
      return Status::InvalidArgument(file + ": more than " + std::to_string(kMaxSetItems) + " ids");
    }
    const Json id = std::string(line.data(), line.size());
    lines->append("{\"items\":[").append(OneLine(id)).append("]}\n");
  }
}

Status SetsPut(const Session& session, const SetsPutFlags& flags) {
  std::string lines;
  if (Status read = ReadSet(flags.file, &lines); !read.ok()) return read;
  const auto set = AskSets(session, {.method = "PUT",
                                     .target = SetTarget(flags.name),
                                     .body = lines,
                                     .content_type = "application/x-ndjson"});
  if (!set.ok()) return set.status();
  if (session.json) return PrintJson(*set);
  return Print(FormatCount(CountOf(*set, "count")) + " ids, " +
               FormatBytes(CountOf(*set, "bytes")) + " of memory\n");
}

Status SetsDelete(const Session& session, const std::string& name) {
  const auto deleted = AskSets(session, {.method = "DELETE", .target = SetTarget(name)});
  if (!deleted.ok()) return deleted.status();
  return session.json ? PrintJson(*deleted) : Print("deleted\n");
}

Status SetsVerify(const Session& session) {
  if (session.db.empty()) return Status::InvalidArgument("sets verify needs --db");
  const std::string folder = session.db + "/sets";
  if (!std::filesystem::exists(folder + "/CURRENT")) {
    return Status::NotFound("there are no sets in " + folder);
  }
  auto store = SetStore::Open(folder, {});
  if (!store.ok()) return store.status();
  auto damaged = (*store)->Verify();
  const size_t count = (*store)->List().size();
  const Status closed = (*store)->Close();
  if (!damaged.ok()) return damaged.status();
  std::string text = FormatCount(count) + " sets, " + FormatCount(damaged->size()) + " damaged\n";
  for (const std::string& name : *damaged) text += "damaged: " + Printable(name) + "\n";
  const Json report = {{"sets", count}, {"damaged", *damaged}};
  if (Status printed = session.json ? PrintJson(report) : Print(text); !printed.ok())
    return printed;
  if (!damaged->empty()) return Status::Corruption("sets are damaged");
  return closed;
}

}  // namespace

void AddSets(Command app, Session& session) {
  Command sets = AddCommand(app, session, "sets", "The named sets of items that requests exclude",
                            Takes::kServer, [&session] { return PrintSets(session); });
  sets.Examples({"seendb sets", "seendb sets --json"});
  Command list = AddCommand(sets, session, "list", "All sets, with their ids and memory",
                            Takes::kServer, [&session] { return PrintSets(session); });
  list.Examples({"seendb sets list"});

  auto get = std::make_shared<SetsGetFlags>();
  Command read = AddCommand(sets, session, "get", "The ids of a set, one a line", Takes::kServer,
                            [&session, get] { return SetsGet(session, *get); });
  read.Add("name", get->name, "The set's name").Required();
  read.Add("--limit", get->limit, "At most so many").TypeName("N").Range(1, kMaxSetItems);
  read.Examples({"seendb sets get blocked --limit 10"});

  auto put = std::make_shared<SetsPutFlags>();
  Command write =
      AddCommand(sets, session, "put", "Makes the ids of a file the set, in place of those it had",
                 Takes::kServer, [&session, put] { return SetsPut(session, *put); });
  write.Add("name", put->name, "The set's name").Required();
  write.Add("file", put->file, "An id a line, maybe compressed (zstd, gzip); - for standard input")
      .Required();
  write.Examples({"seendb sets put blocked items.txt"});

  auto name = std::make_shared<std::string>();
  Command gone = AddCommand(sets, session, "delete", "Deletes a set", Takes::kServer,
                            [&session, name] { return SetsDelete(session, *name); });
  gone.Add("name", *name, "The set's name").Required();
  gone.Examples({"seendb sets delete old"});

  Command verify = AddCommand(sets, session, "verify", "Check every record of the sets in a folder",
                              Takes::kFolder, [&session] { return SetsVerify(session); });
  verify.Examples({"seendb sets verify --db db"});
}

}  // namespace seendb::tool
