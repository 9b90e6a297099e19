// conformance.cc: plays the scenarios of clients/conformance, those of a server against the one
// that SEENDB_URL names, the others against liar.py, whose address SEENDB_LIAR is; and those of
// kDoubled against a Double. Prints what differs.
//
//   conformance FOLDER      exits with 0 if nothing differs

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "beyond.h"
#include "seendb/client.h"
#include "seendb/double.h"
#include "values.h"

namespace {

using namespace seendb::client;  // NOLINT(google-build-using-namespace)

const Json kDone = {{"done", true}};

/// The files that a double plays, too.
const std::set<std::string> kDoubled = {"facts.json", "ids.json", "items.json", "pages.json"};

FilterOptions FilterOptionsOf(const Json& args) {
  FilterOptions options;
  options.collection = args.value("collection", "");
  options.limit = args.value("limit", int64_t{0});
  options.exclude = IdsOf(args.value("exclude", Json::array()));
  options.record = args.value("record", false);
  options.verify = args.value("verify", false);
  options.explain = args.value("explain", false);
  options.or_fail = args.value("on_error", "") == "fail";
  options.collections = args.value("collections", std::vector<std::string>());
  if (args.contains("facts")) options.facts = args["facts"].get<std::vector<std::string>>();
  if (args.contains("deadline_ms"))
    options.within = milliseconds(args["deadline_ms"].get<int64_t>());
  for (const Json& one : args.value("not", Json::array())) {
    options.not_entries.push_back(
        {.fact = one.value("fact", ""),
         .window = one.value("window", int64_t{0}),
         .within = one.contains("within") ? SpanOf(one["within"]) : milliseconds(0),
         .last = one.value("last", int64_t{0}),
         .surface = one.value("surface", "")});
  }
  std::map<std::string, Groups> groups;
  for (const char* const list : {"items", "candidates", "best"}) {
    for (const Json& one : args.value(list, Json::array())) {
      if (!one.is_object() || !one.contains("id")) continue;
      Groups& of = groups[IdOf(one).Text()];
      of.of = one.value("of", std::vector<std::string>());
      of.same_as = one.value("same_as", std::vector<std::string>());
      if (one.contains("at")) of.at_ms = one["at"].get<int64_t>();
    }
  }
  if (!groups.empty()) {
    options.groups = [groups](const Id& id) {
      const auto found = groups.find(id.Text());
      return found == groups.end() ? Groups() : found->second;
    };
  }
  return options;
}

/// The calls of scenarios, by name, with a client and a begin of time.
class Calls {
 public:
  Calls(Client& client, int64_t now_ms) : c_(client), now_ms_(now_ms) {}

  Json Make(const std::string& call, const Json& a) {
    const CallOptions options{.collection = a.value("collection", "")};
    const Id user = a.contains("user") ? IdOf(a["user"]) : Id();
    if (call == "filter") return Filter(user, a);
    if (call == "record_plays") return Told(c_.RecordPlays(PlaysOf(a["plays"]), options));
    if (call == "record_exposures") {
      return Told(c_.RecordExposures(ExposuresOf(a["exposures"]), options));
    }
    if (call == "record_impressions") {
      return Told(c_.RecordImpressions(user, IdsOf(a["items"]), options));
    }
    if (call == "bulk") return InBulk(a);
    if (call == "fill_page") {
      const std::string when = a.value("when_degraded", "fail_open");
      return {{"ids", Told(c_.FillPage(user, IdsOf(a["candidates"]), a["need"],
                                       when == "fail_closed"  ? WhenDegraded::kFailClosed
                                       : when == "last_known" ? WhenDegraded::kLastKnown
                                                              : WhenDegraded::kFailOpen,
                                       FilterOptionsOf(a)))}};
    }
    if (call == "search_unseen") {
      const std::vector<Id> best = IdsOf(a["best"]);
      const auto search = [&](size_t count) {
        return std::vector<Id>(
            best.begin(), best.begin() + static_cast<std::ptrdiff_t>(std::min(count, best.size())));
      };
      return {{"ids", Told(c_.SearchUnseen(search, user, a["k"], FilterOptionsOf(a)))}};
    }
    if (call == "mark") {
      c_.Mark(user, a["group"], a["until"] == "always" ? kAlways : a["until"].get<int64_t>());
      return kDone;
    }
    if (call == "unmark") return {{"deleted", c_.Unmark(user, a["group"])}};
    if (call == "marks") return Marks(user, a);
    if (call == "history_page") {
      const HistoryPage page = c_.HistoryPage(user, a.value("limit", 100), {}, options);
      return {{"entries", Told(page.entries)},
              {"more", !page.cursor.empty()},
              {"kept", page.kept},
              {"degraded", page.degraded}};
    }
    if (call == "history") return {{"entries", Told(c_.History(user))}};
    if (call == "look_up_history") {
      const auto found = c_.LookUpHistory(user, IdsOf(a["items"]), options);
      std::vector<Entry> entries;
      for (const Id& item : IdsOf(a["items"])) {
        if (found.contains(item.Text())) entries.push_back(found.at(item.Text()));
      }
      return {{"entries", Told(entries)}};
    }
    if (call == "erase") return {{"known", c_.Erase(user)}};
    if (call == "inspect") return {{"user", Json::parse(c_.Inspect(user))["user"]}};
    if (call == "export") {
      Json types = Json::array();
      for (const std::string& line : c_.Export(user)) {
        const Json type = Json::parse(line)["type"];
        if (types.empty() || types.back() != type) types.push_back(type);
      }
      return {{"types", types}};
    }
    if (call == "collections") {
      Json names = Json::array();
      for (const std::string& one : c_.Collections()) {
        const auto name = Json::parse(one)["name"].get<std::string>();
        if (name.starts_with("conf-x")) names.push_back(name);
      }
      return {{"names", names}};
    }
    if (call == "put_items") {
      const Recorded taken = c_.PutItems(UpdatesOf(a["updates"]));
      Json told = Told(taken);
      told["stale"] = taken.stale;
      return told;
    }
    if (call == "get_items") {
      Json items = Json::array();
      const auto fields = a.value("fields", std::vector<std::string>());
      for (const Item& one : c_.GetItems(IdsOf(a["ids"]), fields)) {
        items.push_back({{"id", Told(one.id)},
                         {"version", one.version},
                         {"fields", Spelled(Json::parse(one.fields))}});
      }
      return {{"items", items}};
    }
    if (call == "call") {
      const Answer answer =
          c_.Call(a["method"], a["path"], a.contains("body") ? a["body"].dump() : "");
      Json told = Json::object();
      for (const Json& name : a["only"]) told[name] = Json::parse(answer.body)[name];
      return told;
    }
    if (call == "put_item_schema")
      c_.PutItemSchema(a["fields"].dump());
    else if (call == "delete_history")
      c_.DeleteHistory(user, IdsOf(a["items"]),
                       {.collection = options.collection,
                        .same_as = a.value("same_as", std::vector<std::string>())});
    else if (call == "clear_history")
      c_.ClearHistory(user, options);
    else if (call == "set_recording")
      c_.SetRecording(user, a["recording"]);
    else if (call == "put_collection")
      c_.PutCollection(a["name"], a["policy"].dump());
    else if (call == "delete_collection")
      c_.DeleteCollection(a["name"]);
    else
      throw Error("no such call", call);
    return kDone;
  }

 private:
  std::optional<int64_t> AtOf(const Json& one) const {
    if (!one.contains("ago_ms")) return {};
    return now_ms_ - one["ago_ms"].get<int64_t>();
  }

  static std::optional<int64_t> NumberOf(const Json& one, const char* name) {
    return one.contains(name) ? std::optional(one[name].get<int64_t>()) : std::nullopt;
  }

  std::vector<Play> PlaysOf(const Json& list) const {
    std::vector<Play> plays;
    for (const Json& one : list) {
      plays.push_back({.user = IdOf(one["user"]),
                       .item = IdOf(one["item"]),
                       .at_ms = AtOf(one),
                       .progress_s = NumberOf(one, "progress_s"),
                       .duration_s = NumberOf(one, "duration_s"),
                       .device = one.value("device", ""),
                       .fields = one.contains("fields") ? one["fields"].dump() : "",
                       .of = one.value("of", std::vector<std::string>()),
                       .same_as = one.value("same_as", std::vector<std::string>())});
    }
    return plays;
  }

  std::vector<Exposure> ExposuresOf(const Json& list) const {
    std::vector<Exposure> shown;
    for (const Json& one : list) {
      shown.push_back({.user = IdOf(one["user"]),
                       .item = IdOf(one["item"]),
                       .at_ms = AtOf(one),
                       .surface = one.value("surface", ""),
                       .of = one.value("of", std::vector<std::string>()),
                       .same_as = one.value("same_as", std::vector<std::string>())});
    }
    return shown;
  }

  static std::vector<ItemUpdate> UpdatesOf(const Json& list) {
    std::vector<ItemUpdate> updates;
    for (const Json& one : list) {
      updates.push_back({.id = IdOf(one["id"]),
                         .version = one["version"],
                         .set = one.contains("set") ? Exact(one["set"]).dump() : "",
                         .unset = one.value("unset", std::vector<std::string>()),
                         .replace = one.value("replace", false),
                         .remove = one.value("delete", false)});
    }
    return updates;
  }

  Json Told(const std::vector<Entry>& entries) const {
    Json all = Json::array();
    for (const Entry& one : entries) {
      all.push_back({{"collection", one.collection},
                     {"item", one.item},
                     {"ago_ms", now_ms_ - one.at_ms},
                     {"progress_s", one.progress_s},
                     {"duration_s", one.duration_s},
                     {"device", one.device},
                     {"fields", one.fields.empty() ? Json() : Json::parse(one.fields)}});
    }
    return all;
  }
  template <typename T>
  static Json Told(const T& one) {
    return seendb::client::Told(one);
  }

  Json Filter(const Id& user, const Json& a) {
    const Filtered found = c_.Filter(user, IdsOf(a["items"]), FilterOptionsOf(a));
    Json told = {{"unseen", seendb::client::Told(found.unseen)},
                 {"seen", found.seen},
                 {"examined", found.examined},
                 {"degraded", found.degraded},
                 {"missing", found.missing},
                 {"excluded", found.excluded},
                 {"duplicates", found.duplicates}};
    if (a.value("record", false)) told["recorded"] = found.recorded;
    if (a.value("explain", false)) told["reasons"] = found.reasons;
    if (HasGroups(a["items"])) told["undated"] = found.undated;
    if (!a.value("not", Json::array()).empty()) {
      told["coarse"] = found.coarse;
      told["beyond"] = found.beyond;
    }
    return told;
  }

  Json Marks(const Id& user, const Json& a) {
    const auto pairs = [](const MarksPage& page) {
      Json all = Json::array();
      for (const Mark& one : page.marks) {
        all.push_back({one.group, one.until_ms == kAlways ? Json("always") : Json(one.until_ms)});
      }
      return all;
    };
    const MarksPage page = c_.Marks(user, a.value("limit", 100));
    Json told = {
        {"marks", pairs(page)}, {"more", !page.cursor.empty()}, {"degraded", page.degraded}};
    if (!page.cursor.empty())
      told["next"] = pairs(c_.Marks(user, a.value("limit", 100), page.cursor));
    return told;
  }

  Json InBulk(const Json& a) {
    Bulk bulk(c_,
              {.collection = a.value("collection", ""), .batch = a.value("batch", size_t{2'000})});
    if (a.value("kind", "") == "exposures") {
      for (const Exposure& one : ExposuresOf(a["plays"])) bulk.Add(one);
    } else {
      for (const Play& one : PlaysOf(a["plays"])) bulk.Add(one);
    }
    bulk.Flush();
    Json told = seendb::client::Told(bulk.recorded());
    told.erase("pending");
    return told;
  }

  Client& c_;
  const int64_t now_ms_;
};

void WriteToken(const std::filesystem::path& path, const std::string& token, int changed_s) {
  std::ofstream(path) << token << "\n";
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type(std::chrono::seconds(changed_s)));
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The differences; empty: there are none.
std::string Play(Client& client, const Json& row, const std::filesystem::path& token_file) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Calls calls(client, std::chrono::duration_cast<milliseconds>(now).count());
  const std::string run = std::to_string(now.count());
  for (const Json& step : Json::parse(Replaced(row["steps"].dump(), "$run", run))) {
    std::this_thread::sleep_for(milliseconds(step.value("sleep_ms", 0)));
    if (step.contains("write_token")) WriteToken(token_file, step["write_token"], 2);
    if (!step.contains("call")) continue;
    const Json wanted = step.value("error", Json());
    Json outcome;
    try {
      outcome = {{"answer", calls.Make(step["call"], step["args"])}};
    } catch (const Error& error) {
      Json told = {{"code", error.code}, {"field", error.field}};
      if (wanted.contains("status")) told["status"] = error.status;
      outcome = {{"error", told}, {"why", error.what()}};
    }
    const char* const kind = step.contains("answer") ? "answer" : "error";
    if (!step.contains(kind)) continue;
    if (outcome.value(kind, Json("none")) != step[kind]) {
      return row["name"].get<std::string>() + ": " + step["call"].get<std::string>() + " " +
             step["args"].dump().substr(0, 300) + ": " + outcome.dump().substr(0, 600) + ", not " +
             step[kind].dump().substr(0, 600);
    }
  }
  return {};
}

std::string PathOf(const std::string& name) {
  std::string path = "/";
  for (const char letter : name) {
    constexpr char kHex[] = "0123456789ABCDEF";
    const auto c = static_cast<unsigned char>(letter);
    path += {'%', kHex[c >> 4], kHex[c & 15]};
  }
  return path;
}

/// The differences in a scenario of the server that lies.
std::string PlayLies(Client& liar, const Json& row, const std::filesystem::path& token_file) {
  const Json begun = Json::parse(liar.Call("POST", PathOf(row["name"])).body);
  const Json& said = row["client"];
  Options options{.token = said.value("token", ""),
                  .ca = said.value("ca", false) ? begun["ca"].get<std::string>() : "",
                  .timeout = milliseconds(said["timeout_ms"].get<int64_t>()),
                  .retries = said.value("retries", 1),
                  .cluster = said.value("cluster", false),
                  .hedge = milliseconds(said.value("hedge_ms", 0)),
                  .dns = begun.value("dns", "")};
  if (said.contains("token_file")) {
    options.token_file = token_file;
    WriteToken(token_file, said["token_file"], 1);
  }
  auto urls = begun["urls"].get<std::vector<std::string>>();
  if (row.contains("only")) urls.resize(row["only"]);
  Client client(urls, options);
  std::string wrong = Play(client, row, token_file);
  for (const Json& one : Json::parse(liar.Call("GET", "/differences").body)) {
    wrong += (wrong.empty() ? "" : "\n") + row["name"].get<std::string>() + ": " +
             one.get<std::string>();
  }
  return wrong;
}

/// The differences where the caller's own resolver is asked, and where that fails; empty: there are
/// none.
std::string PlayResolver(Client& liar) {
  const auto begun = Json::parse(liar.Call("POST", PathOf("a token")).body);
  const std::string url = begun["urls"][0];
  const auto port = static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  const std::string name = "srv+http://_seendb._tcp.liar.test";
  std::string told, wrong;
  const auto resolve = [&](const std::string& asked) {
    told += asked;
    return std::vector<SrvRecord>{{.priority = 2, .port = 1, .target = "127.0.0.1"},
                                  {.priority = 1, .port = port, .target = "127.0.0.1."}};
  };
  const auto fails = [&](const std::string& why, Options options, const std::string& of) {
    try {
      Client client(of, std::move(options));
      client.Filter("u", {"v"});
    } catch (const Error& error) {
      if (std::string(error.what()).find(why) != std::string::npos) return;
      wrong += of + ": " + error.what() + ", not " + why + "\n";
      return;
    }
    wrong += of + ": no error, not " + why + "\n";
  };
  Client client(name, {.timeout = milliseconds(10'000), .resolver = resolve});
  if (client.Filter("u", {"v", "w"}).unseen.size() != 2) wrong += "a resolver: no answer\n";
  if (told != "_seendb._tcp.liar.test") wrong += "a resolver: asked for " + told + "\n";
  fails("unavailable: " + name + ": it is down",
        {.resolver = [](const auto&) -> std::vector<SrvRecord> {
          throw std::runtime_error("it is down");
        }},
        name);
  fails("a record without a target",
        {.resolver = [](const auto&) { return std::vector<SrvRecord>{{.target = "h"}}; }}, name);
  fails("the service is not there",
        {.resolver = [](const auto&) { return std::vector<SrvRecord>{{.target = "."}}; }}, name);
  fails("/dns", {.dns = "liar.test:53"}, name);
  for (const char* const no_name : {"srv+http://", "srv+ftp://h", "srv+unix:/s", "srv+http://h:80",
                                    "srv+http://h/x", "srv+http://[::1]"}) {
    fails("is no srv+http://name", {}, no_name);
  }
  return wrong;
}

int PlayAll(const std::filesystem::path& folder) {
  const char* const url = std::getenv("SEENDB_URL");
  const char* const lies = std::getenv("SEENDB_LIAR");
  std::map<std::filesystem::path, Json> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "answers.json") continue;
    std::ifstream file(entry.path());
    files[entry.path()] = Json::parse(file);
  }
  const auto token_file =
      std::filesystem::temp_directory_path() /
      ("seendb-token-" + std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id())));
  Client server(url ? url : "http://127.0.0.1:1", {.timeout = milliseconds(30'000)});
  Client liar(lies ? lies : "http://127.0.0.1:1", {.timeout = milliseconds(30'000)});
  int played = 0, lied = 0, doubled = 0, differ = 0, beyond = 0;
  const auto judge = [&](const std::string& wrong) {
    if (wrong.empty()) return;
    ++differ;
    std::cout << wrong << std::endl;
  };
  for (const auto& [path, rows] : files) {
    for (const Json& row : rows) {
      const bool is_lie = row.contains("servers");
      if (!is_lie && !IsBeyond(row) && kDoubled.contains(path.filename())) {
        Double alone({.timeout = milliseconds(30'000)});
        ++doubled;
        judge(Play(alone, row, token_file));
      }
      if (!(is_lie ? lies : url)) continue;
      if (IsBeyond(row)) {  // a later scenario deletes the collections that it makes
        ++beyond;
        Json makes = row;
        makes["steps"] = MakingsOf(row);
        if (!is_lie) Play(server, makes, token_file);
        continue;
      }
      ++(is_lie ? lied : played);
      judge(is_lie ? PlayLies(liar, row, token_file) : Play(server, row, token_file));
    }
  }
  std::filesystem::remove(token_file);
  if (const std::string wrong = lies ? PlayResolver(liar) : ""; !wrong.empty()) {
    ++differ;
    std::cout << wrong;
  }
  std::cout << played << " scenarios of a server, " << lied << " of a liar, " << doubled
            << " of a double, " << differ << " differ, " << beyond
            << " ask for what this client does not have\n";
  return differ == 0 && played + lied + doubled > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "conformance FOLDER\n";
    return 2;
  }
  return PlayAll(argv[1]);
}
