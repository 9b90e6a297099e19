#include "memory.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/outside_json.h"

namespace seendb::client::internal {
namespace {

constexpr int kAnswered = 200, kMalformed = 400, kAbsent = 404, kDegraded = 503;
constexpr const char* kJson = "application/json";
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::string Decode(std::string_view text) {
  const auto digit = [](char c) {
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;  // NOLINT: hexadecimal, either case
  };
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::vector<std::string> Split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(at), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Reads what a client wrote in binary.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }

  uint64_t Number(size_t size = sizeof(uint64_t)) {
    uint64_t number = 0;
    const std::string_view bytes = Take(size);
    for (size_t i = bytes.size(); i-- > 0;) {
      number = number << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return number;
  }
  std::string_view Take(size_t size) {
    if (size > left_.size()) throw Malformed("the body ends early");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view left_;
};

/// Plays of a Bulk, in binary.
Json RowsOf(std::string_view body, bool numbers) {
  Json events = Json::array();
  for (Bytes bytes(body); !bytes.empty();) {
    const auto id = [&]() -> Json {
      if (numbers) return bytes.Number();
      return std::string(bytes.Take(bytes.Number(sizeof(uint32_t))));
    };
    Json user = id(), item = id();
    events.push_back({{"user", std::move(user)},
                      {"item", std::move(item)},
                      {"at", static_cast<int64_t>(bytes.Number())}});
  }
  return events;
}

std::string TextOf(const Json& id) { return IdFrom(id).Text(); }

Reply Said(const Json& body) {
  return {.status = kAnswered, .body = Write(body), .headers = {{"Content-Type", kJson}}};
}

/// The result of a filter.
struct Judged {
  Json unseen = Json::array(), reasons = Json::object();
  std::string bits = {};  // of the unseen
  int64_t seen = 0, examined = 0, excluded = 0, duplicates = 0, undated = 0;
  bool recorded = false;
};

Reply InBinary(const Judged& found, bool degraded) {
  return {.status = kAnswered,
          .body = found.bits,
          .headers = {{"SeenDB-Seen", std::to_string(found.seen)},
                      {"SeenDB-Examined", std::to_string(found.examined)},
                      {"SeenDB-Excluded", std::to_string(found.excluded)},
                      {"SeenDB-Duplicates", std::to_string(found.duplicates)},
                      {"SeenDB-Degraded", degraded ? "1" : "0"},
                      {"SeenDB-Missing", degraded ? "double" : ""},
                      {"SeenDB-Recorded", found.recorded ? "true" : "false"}}};
}

Json InJson(const Judged& found, bool degraded) {
  Json unseen = Json::array(), missing = Json::array();
  for (const Json& one : found.unseen) unseen.push_back(TextOf(one));
  if (degraded) missing.push_back("double");
  return {{"unseen", unseen},
          {"seen", found.seen},
          {"examined", found.examined},
          {"excluded", found.excluded},
          {"duplicates", found.duplicates},
          {"undated", found.undated},
          {"degraded", degraded},
          {"missing", missing}};
}

/// Whether a candidate has no time, and no other mark than one up to a time.
bool IsUndated(const Json& candidate, const std::map<std::string, Json>& marks) {
  if (!candidate.is_object() || candidate.contains("at")) return false;
  bool is_marked = false;
  for (const Json& group : ListOf(candidate, "of")) {
    const auto mark = marks.find(group.get<std::string>());
    if (mark == marks.end()) continue;
    if (mark->second["until"] == "always") return false;
    is_marked = true;
  }
  return is_marked;
}

}  // namespace

Error Malformed(std::string message, std::string field) {
  return {"invalid_argument", std::move(message), std::move(field), kMalformed};
}

Error Absent(std::string message, std::string field) {
  return {"not_found", std::move(message), std::move(field), kAbsent};
}

int64_t NumberOf(const Json& told, const char* name, int64_t fallback) {
  if (!told.contains(name)) return fallback;
  const Json& value = told[name];
  return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<int64_t>();
}

const Json& ListOf(const Json& told, const char* name) {
  static const Json kNone = Json::array();
  return told.contains(name) ? told[name] : kNone;
}

void Memory::Fail(const std::vector<std::string>& codes) {
  const std::lock_guard lock(mutex_);
  failures_.insert(failures_.end(), codes.begin(), codes.end());
}

void Memory::Degrade(bool degraded) {
  const std::lock_guard lock(mutex_);
  degraded_ = degraded;
}

std::vector<std::string> Memory::Calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

Memory::Asked Memory::TakeApart(const Request& request) {
  const size_t query = std::min(request.path.find('?'), request.path.size());
  Asked asked{.route = request.method};
  asked.parts = Split(std::string_view(request.path).substr(1, query - 1), '/');
  for (std::string& part : asked.parts) part = Decode(part);
  if (!asked.parts.empty()) {
    asked.route += " " + asked.parts.front();
    asked.parts.erase(asked.parts.begin());
  }
  for (const std::string& one : Split(std::string_view(request.path).substr(query), '&')) {
    const std::string_view pair = std::string_view(one).substr(one.starts_with('?') ? 1 : 0);
    const size_t equal = std::min(pair.find('='), pair.size());
    asked.told[Decode(pair.substr(0, equal))] =
        Decode(pair.substr(std::min(equal + 1, pair.size())));
  }
  if (request.content_type == "application/octet-stream") {
    if (asked.route == "POST plays") {
      asked.told["events"] = RowsOf(request.body, asked.told.value("ids", "") == "u64");
      return asked;
    }
    Json items = Json::array();
    for (Bytes bytes(request.body); !bytes.empty();) items.push_back(bytes.Number());
    const auto excluded = static_cast<std::ptrdiff_t>(NumberOf(asked.told, "exclude", 0));
    asked.told["exclude"] = Json(std::vector<Json>(items.end() - excluded, items.end()));
    items.erase(items.end() - excluded, items.end());
    asked.told["items"] = std::move(items);
  } else if (request.content_type == "application/x-ndjson") {
    for (const std::string& line : Split(request.body, '\n')) {
      asked.told["events"].push_back(ParseGiven(line, "/events"));
    }
  } else if (!request.body.empty()) {
    asked.told.update(ParseGiven(request.body, {}));
  }
  return asked;
}

void Memory::RefuseUnknown(const Json& told) {
  for (const char* const list : {"events", "items"}) {
    const Json& all = ListOf(told, list);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].is_object() && all[i].contains("same_as")) {
        throw Malformed("the double knows no such groups",
                        "/" + std::string(list) + "/" + std::to_string(i) + "/same_as");
      }
    }
  }
  for (const char* const name : {"same_as", "collections", "exclude_sets", "caps", "where",
                                 "at_most", "unknown", "when_short"}) {
    if (told.contains(name)) {
      throw Malformed("the double does not know this", "/" + std::string(name));
    }
  }
}

Reply Memory::Answer(const Request& request) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(request.name.empty() ? request.method + " " + request.path : request.name);
  if (!failures_.empty()) {
    const std::string code = failures_.front();
    failures_.erase(failures_.begin());
    throw Error(code, "the test wants it so");
  }
  try {
    return Respond(TakeApart(request), request);
  } catch (const Json::exception& wrong) {
    throw Malformed(wrong.what());
  } catch (const std::logic_error& wrong) {  // of a number in the query
    throw Malformed(wrong.what());
  }
}

Reply Memory::Respond(const Asked& asked, const Request& request) {
  const std::string& route = asked.route;
  if (route != "POST users") RefuseUnknown(asked.told);
  if (route == "POST filter") {
    return Filter(asked.told, request.content_type == "application/octet-stream");
  }
  if (route == "POST plays") return Said(Record(asked.told, "play"));
  if (route == "POST impressions") return Said(Record(asked.told, "impression"));
  if (route == "POST exposures") return Said(Record(asked.told, "exposed"));
  if (route.ends_with(" users") && !asked.parts.empty()) return Said(OfUser(asked, request));
  if (route.ends_with(" collections")) return Said(OfCollection(asked));
  if (route == "PUT items") return Said(asked.told);  // the schema
  if (route == "POST items") {
    return Said(asked.parts.empty() ? UpdateItems(asked.told) : FindItems(asked.told));
  }
  throw Absent("the double has no " + request.path);
}

std::string Memory::CollectionOf(const Json& told) const {
  std::string name = told.value("collection", "");
  if (name.empty()) name = "default";
  if (!collections_.contains(name)) {
    throw Absent("no collection " + name, "/collection");
  }
  return name;
}

// ---- Events ----

Json Memory::Record(const Json& told, const char* fact) {
  const std::string collection = CollectionOf(told);
  const Json history = collections_[collection].value("history", Json::object());
  const bool is_kept = std::string_view(fact) == "play" && history.value("enabled", false);
  size_t count = 0;
  if (!told.contains("events")) {
    for (const Json& item : told.at("items")) {
      Note(told, told.at("user"), item.is_object() ? item.at("id") : item, fact, {});
      ++count;
    }
  }
  for (const Json& event : ListOf(told, "events")) {
    Note(told, event.at("user"), event.at("item"), fact, event.value("surface", ""));
    ++count;
    if (!is_kept) continue;
    Json entry = event;
    entry["item"] = TextOf(event["item"]);
    entry["collection"] = collection;
    entries_[{collection, TextOf(event["user"])}][TextOf(event["item"])] = std::move(entry);
  }
  return {{"accepted", count}, {"refused", 0}, {"refusals", Json::array()}};
}

void Memory::Note(const Json& told, const Json& user, const Json& item, const std::string& fact,
                  const std::string& surface) {
  Facts& facts = seen_[{CollectionOf(told), TextOf(user)}][TextOf(item)];
  const auto known =
      std::find_if(facts.begin(), facts.end(), [&](const auto& one) { return one.first == fact; });
  if (known == facts.end()) {
    facts.push_back({fact, {surface}});
  } else {
    known->second.insert(surface);
  }
}

// ---- Filters ----

Memory::Wanted Memory::WantedOf(const Json& told) const {
  static const std::map<std::string, std::string> kFacts = {
      {"plays", "play"},        {"impressions", "impression"}, {"played", "play"},
      {"served", "impression"}, {"exposed", "exposed"},
  };
  const auto named = [](const std::string& word, const char* field) -> const std::string& {
    const auto found = kFacts.find(word);
    if (found == kFacts.end()) throw Malformed("no such fact", field);
    return found->second;
  };
  Wanted wanted;
  for (const Json& one : ListOf(told, "not")) {
    wanted.emplace_back(named(one.at("fact").get<std::string>(), "/not"), one.value("surface", ""));
  }
  if (!wanted.empty()) return wanted;
  const Json facts = told.value("facts", Json{"plays", "impressions"});
  for (const Json& one : facts) {
    wanted.emplace_back(named(one.get<std::string>(), "/facts"), "");
  }
  if (collections_.at(CollectionOf(told)).value("exposed_is_seen", false)) {
    wanted.emplace_back("exposed", "");
  }
  return wanted;
}

std::string Memory::ReasonOf(const Facts& facts, const Wanted& wanted, const Json& candidate,
                             const std::map<std::string, Json>& marks) const {
  for (const auto& [fact, surfaces] : facts) {
    for (const auto& [name, surface] : wanted) {
      if (name == fact && (surface.empty() || surfaces.contains(surface))) return fact;
    }
  }
  if (!candidate.is_object()) return {};
  for (const Json& group : ListOf(candidate, "of")) {
    const auto mark = marks.find(group.get<std::string>());
    if (mark == marks.end()) continue;
    const Json& until = mark->second["until"];
    if (until == "always" ||
        (candidate.contains("at") && candidate["at"].get<int64_t>() <= until.get<int64_t>())) {
      return "mark:" + mark->first;
    }
  }
  return {};
}

Reply Memory::Filter(const Json& told, bool in_binary) {
  const std::string collection = CollectionOf(told), user = TextOf(told.at("user"));
  if (degraded_ && told.value("on_error", "") == "fail") {
    throw Error("unavailable", "the answer would be degraded", {}, kDegraded);
  }
  static const std::map<std::string, Facts> kNothing;
  static const std::map<std::string, Json> kNoMarks;
  const auto known_user = seen_.find({collection, user});
  const auto known_marks = marks_.find(user);
  const auto& seen = known_user == seen_.end() ? kNothing : known_user->second;
  const auto& marks = known_marks == marks_.end() ? kNoMarks : known_marks->second;
  const Wanted wanted = WantedOf(told);
  const int64_t limit = NumberOf(told, "limit", kMost);
  std::unordered_set<std::string> left_out, met;
  for (const Json& one : ListOf(told, "exclude")) left_out.insert(TextOf(one));
  const Json& items = told.at("items");
  Judged found;
  found.bits.resize((items.size() + 7) / 8);
  for (size_t at = 0; at < items.size() && static_cast<int64_t>(found.unseen.size()) < limit;
       ++at) {
    const Json& candidate = items[at];
    const Json& id = candidate.is_object() ? candidate.at("id") : candidate;
    const std::string item = TextOf(id);
    const auto known = seen.find(item);
    const std::string why =
        ReasonOf(known == seen.end() ? Facts() : known->second, wanted, candidate, marks);
    ++found.examined;
    if (IsUndated(candidate, marks)) ++found.undated;
    if (!met.insert(item).second) {
      ++found.duplicates;
    } else if (left_out.contains(item)) {
      ++found.excluded;
    } else if (!why.empty()) {
      ++found.seen;
      found.reasons[item] = why;
    } else {
      found.unseen.push_back(id);
      found.bits[at / 8] = static_cast<char>(found.bits[at / 8] | 1 << at % 8);
    }
  }
  const Json record = told.value("record", Json(false));
  found.recorded = record == true || record == "true";
  for (const Json& one : found.unseen) {
    if (found.recorded) Note(told, told["user"], one, "impression", {});
  }
  if (in_binary) return InBinary(found, degraded_);
  Json answer = InJson(found, degraded_);
  if (told.value("explain", false)) answer["reasons"] = found.reasons;
  return Said(answer);
}

}  // namespace seendb::client::internal
