// seendb items: the store of items of a running server; `verify` looks at that of a folder.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "byte_source.h"
#include "commands.h"
#include "exit_code.h"
#include "patient_send.h"
#include "report_json.h"
#include "seendb/item_store.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

/// Lines sent in one request.
constexpr size_t kItemBatchBytes = 4u << 20;
/// A line longer than this is no update: an item has 64 KiB at most.
constexpr size_t kItemLineMost = 1u << 20;
/// Refusals printed one by one.
constexpr uint64_t kItemRefusalsShown = 20;

struct ItemsGetFlags {
  std::vector<std::string> ids, fields;
};

Result<Json> AskItems(const Session& session, const HttpRequest& request) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  return (*server)->Call(request);
}

Status ItemsGet(const Session& session, const ItemsGetFlags& flags) {
  Json body = {{"ids", flags.ids}};
  if (!flags.fields.empty()) body["fields"] = flags.fields;
  const std::string text = body.dump();
  const auto found = AskItems(session, {.method = "POST", .target = "/items/get", .body = text});
  if (!found.ok()) return found.status();
  if (session.json) return PrintJson(*found);
  Table table({{"item"}, {"version", Align::kRight}, {"field"}, {"value"}});
  for (const Json& item : ListOf(*found, "items")) {
    const Json& id = item.at("id");
    const std::string name = Printable(id.is_string() ? id.get<std::string>() : id.dump());
    const std::string version = std::to_string(CountOf(item, "version"));
    if (item.at("fields").empty()) table.Add({name, version, "-", "-"});
    for (const auto& [field, value] : item.at("fields").items()) {
      table.Add({name, version, Printable(field), Printable(OneLine(value))});
    }
  }
  return Print(table.ToString());
}

Status ItemsSchema(const Session& session, const std::string& put) {
  HttpRequest request{.target = "/items/schema"};
  if (!put.empty()) {
    request.method = "PUT";
    request.body = put;
  }
  const auto schema = AskItems(session, request);
  if (!schema.ok()) return schema.status();
  if (session.json) return PrintJson(*schema);
  Table table({{"field"}, {"type"}, {"column"}});
  for (const Json& field : ListOf(*schema, "fields")) {
    table.Add({Printable(TextOf(field, "name")), TextOf(field, "type"),
               FlagOf(field, "column") ? "yes" : "no"});
  }
  return Print(table.ToString());
}

Status ItemsStats(const Session& session) {
  const auto stats = AskItems(session, {.target = "/admin/items"});
  if (!stats.ok()) return stats.status();
  if (session.json) return PrintJson(*stats);
  Table table({{"figure"}, {"value", Align::kRight}});
  for (const auto& [name, value] : stats->items()) {
    if (!value.is_number()) continue;
    const bool is_bytes = name.find("bytes") != std::string::npos;
    const auto count = value.get<uint64_t>();
    std::string label = name;
    std::replace(label.begin(), label.end(), '_', ' ');
    table.Add({label, is_bytes ? FormatBytes(count) : FormatCount(count)});
  }
  std::string text = table.ToString();
  for (const Json& id : ListOf(*stats, "damaged_ids")) {
    text += "damaged: " + Printable(id.get<std::string>()) + "\n";
  }
  return Print(text);
}

/// Sends lines of NDJSON in batches of whole lines, each again while the server is busy: an update
/// may come twice.
class ItemLoader {
 public:
  ItemLoader(HttpClient* server, int64_t retry_s)
      : server_(*server), patience_{.retry_s = retry_s} {}

  Status Take(std::string_view line) {
    if (batch_.size() + line.size() >= kItemBatchBytes) {
      if (Status sent = Flush(); !sent.ok()) return sent;
    }
    batch_.append(line).push_back('\n');
    ++lines_;
    return {};
  }

  Status Flush() {
    if (batch_.empty()) return {};
    HttpResponse answer;
    const Status sent = TryPatiently(
        patience_,
        [&] {
          auto said = server_.Send({.method = "POST",
                                    .target = "/items",
                                    .body = batch_,
                                    .content_type = "application/x-ndjson"});
          if (!said.ok()) return said.status();
          answer = std::move(said).value();
          constexpr unsigned kAllRefused = 422;
          const bool told = answer.status == 200 || answer.status == kAllRefused;
          return told ? Status() : StatusOfAnswer(answer);
        },
        [&] { return answer.retry_after_s; });
    if (!sent.ok()) return sent;
    Note(ParseAnswer(answer.body));
    batch_.clear();
    first_line_ = lines_;
    return {};
  }

  uint64_t lines() const { return lines_; }
  uint64_t refused() const { return refused_; }
  Json Report() const {
    return {{"lines", lines_}, {"accepted", accepted_}, {"stale", stale_}, {"refused", refused_}};
  }

 private:
  void Note(const Json& answer) {
    accepted_ += CountOf(answer, "accepted");
    stale_ += CountOf(answer, "stale");
    refused_ += CountOf(answer, "refused");
    for (const Json& refusal : ListOf(answer, "refusals")) {
      if (shown_ == kItemRefusalsShown) return;
      ++shown_;
      const Json error = refusal.value("error", Json::object());
      const std::string line = std::to_string(first_line_ + CountOf(refusal, "index") + 1);
      std::fprintf(stderr, "line %s: %s: %s\n", line.c_str(),
                   Printable(TextOf(error, "field")).c_str(),
                   Printable(TextOf(error, "message")).c_str());
    }
  }

  HttpClient& server_;
  const Patience patience_;
  std::string batch_;
  uint64_t lines_ = 0, first_line_ = 0;  // taken; of them before the batch
  uint64_t accepted_ = 0, stale_ = 0, refused_ = 0, shown_ = 0;
};

Status SendItemLines(ByteSource* source, ItemLoader* loader) {
  std::string held;
  std::vector<char> buffer(256u << 10);
  for (;;) {
    const Result<size_t> read = source->Read(buffer.data(), buffer.size());
    if (!read.ok()) return read.status();
    held.append(buffer.data(), *read);
    size_t begin = 0;
    for (size_t end; (end = held.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const auto line = std::string_view(held).substr(begin, end - begin);
      if (Status taken = loader->Take(line); !taken.ok()) return taken;
    }
    held.erase(0, begin);
    if (held.size() > kItemLineMost) {
      return Status::InvalidArgument("line " + std::to_string(loader->lines() + 1) +
                                     " has more than 1 MiB");
    }
    if (*read > 0) continue;
    if (!held.empty()) {
      if (Status taken = loader->Take(held); !taken.ok()) return taken;
    }
    return loader->Flush();
  }
}

Status ItemsLoad(Session& session, const std::string& file, int64_t retry_s) {
  auto source = ByteSource::Open(file);
  if (!source.ok()) return source.status();
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  ItemLoader loader(server->get(), retry_s);
  Status sent = SendItemLines(source->get(), &loader);
  const Json report = loader.Report();
  Status printed =
      session.json
          ? PrintJson(report)
          : Print(FormatCount(CountOf(report, "accepted")) + " updates accepted, " +
                  FormatCount(CountOf(report, "refused")) + " refused; " +
                  FormatCount(CountOf(report, "stale")) + " fields had a higher version\n");
  if (!sent.ok()) return sent;
  if (!printed.ok()) return printed;
  if (loader.refused() == 0) return {};
  session.exit_code = kExitRows;
  session.exit_name = "rows";
  return Status::InvalidArgument(FormatCount(loader.refused()) + " updates were refused");
}

Status ItemsVerify(const Session& session) {
  if (session.db.empty()) return Status::InvalidArgument("items verify needs --db");
  const std::string folder = session.db + "/items";
  if (!std::filesystem::exists(folder + "/CURRENT")) {
    return Status::NotFound("there is no store of items in " + folder);
  }
  auto store = ItemStore::Open(folder, {.bytes = UINT64_MAX / 2});
  if (!store.ok()) return store.status();
  auto damaged = (*store)->Verify();
  const ItemStoreStats stats = (*store)->Stats();
  const Status closed = (*store)->Close();
  if (!damaged.ok()) return damaged.status();
  Json report = {{"items", stats.items}, {"damaged", damaged->size()}, {"damaged_ids", *damaged}};
  std::string text =
      FormatCount(stats.items) + " items, " + FormatCount(damaged->size()) + " damaged\n";
  for (const std::string& id : *damaged) text += "damaged: " + Printable(id) + "\n";
  if (Status printed = session.json ? PrintJson(report) : Print(text); !printed.ok())
    return printed;
  if (!damaged->empty()) return Status::Corruption("items are damaged");
  return closed;
}

}  // namespace

void AddItems(Command app, Session& session) {
  Command items = AddCommand(app, session, "items", "How full the store of items is",
                             Takes::kServer, [&session] { return ItemsStats(session); });
  items.Examples({"seendb items", "seendb items --json"});
  Command stats = AddCommand(items, session, "stats", "How full the store of items is",
                             Takes::kServer, [&session] { return ItemsStats(session); });
  stats.Examples({"seendb items stats"});

  auto put = std::make_shared<std::string>();
  Command schema =
      AddCommand(items, session, "schema", "The fields that items may have", Takes::kServer,
                 [&session, put] { return ItemsSchema(session, *put); });
  schema.Add("--put", *put, "Makes these the fields: {\"fields\":[{\"name\",\"type\"}]}")
      .TypeName("JSON")
      .NotEmpty();
  schema.Examples(
      {"seendb items schema",
       "seendb items schema --put '{\"fields\":[{\"name\":\"author\",\"type\":\"text\"}]}'"});

  auto get = std::make_shared<ItemsGetFlags>();
  Command read = AddCommand(items, session, "get", "Items as they are now", Takes::kServer,
                            [&session, get] { return ItemsGet(session, *get); });
  read.Add("item", get->ids, "Ids, 1,000 at most").Required();
  read.Add("--field", get->fields, "This field alone; may be repeated").TypeName("NAME");
  read.Examples({"seendb items get v1 v2 --field author"});

  struct ItemsLoadFlags {
    std::string file;
    int64_t retry_s = 60;
  };
  auto load = std::make_shared<ItemsLoadFlags>();
  Command sent = AddCommand(
      items, session, "load", "Send updates of items, an object a line, to POST /items",
      Takes::kServer, [&session, load] { return ItemsLoad(session, load->file, load->retry_s); });
  sent.Add("file", load->file, "NDJSON, maybe compressed (zstd, gzip); - for standard input")
      .Required();
  sent.Add("--retry", load->retry_s, "How long a busy or lost server is tried again")
      .TypeName("SECONDS")
      .Range(0, 86'400)
      .ShowDefault();
  sent.Examples({"seendb items load items.ndjson"});

  Command verify = AddCommand(items, session, "verify", "Check every row of the items in a folder",
                              Takes::kFolder, [&session] { return ItemsVerify(session); });
  verify.Examples({"seendb items verify --db db"});
}

}  // namespace seendb::tool
