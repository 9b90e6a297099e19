#include "simulation/script.h"

#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

#include "seendb/events.h"

namespace seendb::simulation {
namespace {

constexpr std::array<const char*, kVerbs> kNames = {
    "clock",     "put",         "play",   "serve",     "filter",    "inspect", "erase",  "drain",
    "seal",      "seal-closed", "drop",   "due",       "compact",   "sync",    "verify", "stats",
    "read-only", "checkpoint",  "reopen", "kill",      "power-cut", "fail",    "crash",  "cut",
    "middle",    "history",     "more",   "lookup",    "delete",    "clear",   "pause",  "resume",
    "publish",   "ingest",      "forget", "set-clock", "heal",      "expose",  "mark",   "unmark"};

using Fields = std::map<std::string, std::string, std::less<>>;

int64_t ToNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("not a number: " + std::string(text));
  }
  return value;
}

// An integer member of any type, by name, both ways.
struct Member {
  const char* name;
  std::function<int64_t(const Options&)> get;
  std::function<void(Options&, int64_t)> set;
};
template <typename T>
Member MemberOf(const char* name, T Options::*member) {
  return {name, [member](const Options& o) { return static_cast<int64_t>(o.*member); },
          [member](Options& o, int64_t value) { o.*member = static_cast<T>(value); }};
}
const std::vector<Member>& OptionMembers() {
  static const std::vector<Member> members = {
      MemberOf("shards", &Options::shards),
      MemberOf("ring_slots", &Options::ring_slots),
      MemberOf("slot_ms", &Options::slot_ms),
      MemberOf("slot_bytes_max", &Options::slot_bytes_max),
      MemberOf("short_term_bytes", &Options::short_term_bytes),
      MemberOf("block_cache_bytes", &Options::block_cache_bytes),
      MemberOf("user_cache_bytes", &Options::user_cache_bytes),
      MemberOf("write_buffer_bytes", &Options::write_buffer_bytes),
      MemberOf("list_limit", &Options::list_limit),
      MemberOf("maintenance_begin_minute", &Options::maintenance_begin_minute),
      MemberOf("maintenance_end_minute", &Options::maintenance_end_minute)};
  return members;
}

std::string PatchText(const PolicyPatch& patch) {
  std::ostringstream out;
  if (patch.bucket) {
    out << " bucket=";
    patch.bucket->kind == BucketKind::kMonth ? out << "month" : out << patch.bucket->days;
  }
  if (patch.window) out << " window=" << *patch.window;
  if (patch.retention) out << " retention=" << *patch.retention;
  if (patch.fpr) out << " fpr=" << *patch.fpr;
  if (patch.impressions) out << " impressions=" << *patch.impressions;
  if (patch.served_is_seen) out << " served_is_seen=" << *patch.served_is_seen;
  if (patch.representation) out << " exact=" << (*patch.representation == Representation::kExact);
  if (patch.max_filter_bytes) out << " ceiling=" << *patch.max_filter_bytes;
  if (patch.durability) out << " durability=" << static_cast<int>(*patch.durability);
  if (patch.max_future_ms) out << " future=" << *patch.max_future_ms;
  if (patch.utc_offset_minutes) out << " offset=" << *patch.utc_offset_minutes;
  const HistoryPatch& history = patch.history;
  if (history.enabled) out << " history=" << *history.enabled;
  if (history.ids_only) out << " ids_only=" << *history.ids_only;
  if (history.days) out << " days=" << *history.days;
  if (history.max_entries) out << " max_entries=" << *history.max_entries;
  if (history.deleted_items) out << " again=" << static_cast<int>(*history.deleted_items);
  if (history.when_paused) out << " ignores=" << static_cast<int>(*history.when_paused);
  if (patch.first_of_day) out << " first_of_day=" << *patch.first_of_day;
  if (patch.impression_ids) out << " impression_ids=" << *patch.impression_ids;
  if (patch.exposures.recent) out << " exposures=" << *patch.exposures.recent;
  if (patch.exposed_is_seen) out << " exposed_is_seen=" << *patch.exposed_is_seen;
  return out.str();
}

PolicyPatch ReadPatch(const Fields& fields) {
  PolicyPatch patch;
  for (const auto& [name, text] : fields) {
    if (name == "bucket" && text == "month") {
      patch.bucket = BucketSpec{};
    } else if (name == "bucket") {
      patch.bucket = BucketSpec{BucketKind::kDays, static_cast<uint16_t>(ToNumber(text))};
    } else if (name == "fpr") {
      patch.fpr = std::stod(text);
    } else {
      const int64_t value = ToNumber(text);
      if (name == "window") patch.window = static_cast<uint32_t>(value);
      if (name == "retention") patch.retention = static_cast<uint32_t>(value);
      if (name == "impressions") patch.impressions = static_cast<uint32_t>(value);
      if (name == "served_is_seen") patch.served_is_seen = value != 0;
      if (name == "exact") patch.representation = static_cast<Representation>(value);
      if (name == "ceiling") patch.max_filter_bytes = static_cast<uint64_t>(value);
      if (name == "durability") patch.durability = static_cast<Durability>(value);
      if (name == "future") patch.max_future_ms = value;
      if (name == "offset") patch.utc_offset_minutes = static_cast<int32_t>(value);
      HistoryPatch& history = patch.history;
      if (name == "history") history.enabled = value != 0;
      if (name == "ids_only") history.ids_only = value != 0;
      if (name == "days") history.days = static_cast<uint32_t>(value);
      if (name == "max_entries") history.max_entries = static_cast<uint32_t>(value);
      if (name == "again") history.deleted_items = static_cast<DeletedItems>(value);
      if (name == "ignores") history.when_paused = static_cast<WhenPaused>(value);
      if (name == "first_of_day") patch.first_of_day = value != 0;
      if (name == "impression_ids") patch.impression_ids = value != 0;
      if (name == "exposures") patch.exposures.recent = static_cast<uint32_t>(value);
      if (name == "exposed_is_seen") patch.exposed_is_seen = value != 0;
    }
  }
  return patch;
}

std::string Joined(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ",") + id;
  return text;
}

std::vector<std::string> Split(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, between);) parts.push_back(part);
  return parts;
}

std::string OfText(const std::vector<std::string>& of) {
  return of.empty() ? "" : " of=" + Joined(of);
}

std::string FilterText(const ScriptFilter& filter) {
  std::ostringstream out;
  out << " facts=" << filter.facts << " limit=" << filter.limit << " explain=" << filter.explain
      << " record=" << filter.record << " strict=" << filter.strict << " late=" << filter.late
      << " items=" << Joined(filter.items);
  if (!filter.exclude.empty()) out << " exclude=" << Joined(filter.exclude);
  if (filter.verify) out << " verify=1";
  if (filter.exposed_ms) out << " exposed=" << *filter.exposed_ms;
  if (!filter.surface.empty()) out << " on=" << filter.surface;
  if (filter.marks) out << " marks=1";
  return out.str();
}

ScriptFilter ReadFilter(const Fields& fields) {
  ScriptFilter filter;
  filter.items = Split(fields.at("items"), ',');
  if (fields.contains("exclude")) filter.exclude = Split(fields.at("exclude"), ',');
  filter.facts = static_cast<uint32_t>(ToNumber(fields.at("facts")));
  filter.limit = static_cast<uint32_t>(ToNumber(fields.at("limit")));
  filter.explain = fields.at("explain") == "1";
  filter.record = fields.at("record") == "1";
  filter.strict = fields.at("strict") == "1";
  filter.late = fields.at("late") == "1";
  filter.verify = fields.contains("verify");
  if (fields.contains("exposed")) filter.exposed_ms = ToNumber(fields.at("exposed"));
  if (fields.contains("on")) filter.surface = fields.at("on");
  filter.marks = fields.contains("marks");
  return filter;
}

// "-": not said.
std::string SecondsText(const std::optional<int32_t>& seconds) {
  return seconds ? std::to_string(*seconds) : "-";
}
std::optional<int32_t> ReadSeconds(const std::string& text) {
  if (text == "-") return {};
  return static_cast<int32_t>(ToNumber(text));
}

std::string EventsText(const std::vector<ScriptEvent>& events) {
  std::string text;
  for (const ScriptEvent& event : events) {
    text += " " + event.user + ":" + event.item + "@" +
            (event.at_ms ? std::to_string(*event.at_ms) : "now") +
            (event.day.empty() ? "" : "!" + event.day);
    if (!event.watch) continue;
    const ScriptWatch& watch = *event.watch;
    text += "~" + SecondsText(watch.progress_s) + "~" + SecondsText(watch.duration_s) + "~" +
            watch.device + "~" + watch.fields;
  }
  return text;
}

ScriptEvent ReadEvent(const std::string& text) {
  const size_t colon = text.find(':');
  const size_t at = text.find('@');
  if (colon == std::string::npos || at == std::string::npos) {
    throw std::invalid_argument("no event: " + text);
  }
  const std::vector<std::string> rest = Split(text.substr(at + 1), '~');
  const std::vector<std::string> time = Split(rest.at(0), '!');
  ScriptEvent event = {text.substr(0, colon), text.substr(colon + 1, at - colon - 1)};
  if (time.at(0) != "now") event.at_ms = ToNumber(time[0]);
  if (time.size() > 1) event.day = time[1];
  if (rest.size() > 2) {
    event.watch = {ReadSeconds(rest[1]), ReadSeconds(rest[2]), rest.size() > 3 ? rest[3] : "",
                   rest.size() > 4 ? rest[4] : ""};
  }
  return event;
}

Operation ReadOperation(const std::vector<std::string>& words) {
  Operation operation;
  size_t verb = 0;
  while (verb < kVerbs && words[0] != kNames[verb]) ++verb;
  if (verb == kVerbs) throw std::invalid_argument("no such operation: " + words[0]);
  operation.verb = static_cast<Verb>(verb);
  Fields fields;
  std::vector<std::string> plain;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals == std::string::npos) {
      plain.push_back(words[i]);
    } else {
      fields[words[i].substr(0, equals)] = words[i].substr(equals + 1);
    }
  }
  switch (operation.verb) {
    case Verb::kClock:
    case Verb::kReopen:
    case Verb::kPowerCut:
    case Verb::kMiddle:
    case Verb::kSetClock:
      operation.number = ToNumber(plain.at(0));
      break;
    case Verb::kPut:
      operation.collection = plain.at(0);
      operation.patch = ReadPatch(fields);
      break;
    case Verb::kPlay:
    case Verb::kServe:
    case Verb::kExpose:
      if (fields.contains("on")) operation.surface = fields.at("on");
      operation.grouped = fields.contains("grouped");
      operation.collection = plain.at(0);
      for (size_t i = 1; i < plain.size(); ++i) operation.events.push_back(ReadEvent(plain[i]));
      break;
    case Verb::kFilter:
      operation.collection = plain.at(0);
      operation.user = plain.at(1);
      operation.filter = ReadFilter(fields);
      break;
    case Verb::kMark:
      operation.number = ToNumber(fields.at("until"));
      operation.behind = ToNumber(fields.at("behind"));
      [[fallthrough]];
    case Verb::kUnmark:
      operation.surface = plain.at(1);
      [[fallthrough]];
    case Verb::kInspect:
    case Verb::kErase:
    case Verb::kPause:
    case Verb::kResume:
      operation.user = plain.at(0);
      break;
    case Verb::kHistory:
    case Verb::kClear:
    case Verb::kMore:
      operation.user = plain.at(0);
      if (fields.contains("of")) operation.of = Split(fields.at("of"), ',');
      if (fields.contains("limit")) {
        operation.filter.limit = static_cast<uint32_t>(ToNumber(fields.at("limit")));
      }
      if (fields.contains("pages")) operation.number = ToNumber(fields.at("pages"));
      if (fields.contains("filter")) operation.number = ToNumber(fields.at("filter"));
      break;
    case Verb::kLookup:
    case Verb::kDelete:
      operation.collection = plain.at(0);
      operation.user = plain.at(1);
      operation.filter.items = Split(fields.at("items"), ',');
      break;
    case Verb::kPublish:
      operation.topic = plain.at(0);
      operation.number = ToNumber(plain.at(1));
      for (size_t i = 2; i < plain.size(); ++i) operation.events.push_back(ReadEvent(plain[i]));
      break;
    case Verb::kIngest:
      operation.topic = plain.at(0);
      operation.filter.limit = static_cast<uint32_t>(ToNumber(fields.at("limit")));
      operation.behind = ToNumber(fields.at("behind"));
      operation.not_told = fields.contains("not_told");
      break;
    case Verb::kForget:
      operation.topic = plain.at(0);
      operation.number = ToNumber(fields.at("new"));
      break;
    case Verb::kSeal:
      operation.collection = plain.at(0);
      operation.number = ToNumber(plain.at(1));
      break;
    case Verb::kHeal:
      operation.number = ToNumber(plain.at(0));
      operation.seed = static_cast<uint64_t>(ToNumber(fields.at("seed")));
      break;
    case Verb::kFail:
    case Verb::kCrash:
    case Verb::kCut:
      operation.kinds = static_cast<uint32_t>(ToNumber(fields.at("kinds")));
      operation.part = fields.at("part") == "-" ? "" : fields.at("part");
      operation.number = ToNumber(fields.at("skip"));
      operation.seed = static_cast<uint64_t>(ToNumber(fields.at("seed")));
      operation.error = fields.at("error");
      break;
    default:
      break;
  }
  return operation;
}

}  // namespace

const char* NameOf(Verb verb) { return kNames[static_cast<size_t>(verb)]; }

bool HoldsNext(const std::vector<Operation>& operations, size_t i) {
  return operations[i].verb == Verb::kMiddle || (i > 0 && operations[i - 1].verb == Verb::kMiddle);
}

std::string ToText(const Operation& operation) {
  std::string text = NameOf(operation.verb);
  switch (operation.verb) {
    case Verb::kClock:
    case Verb::kReopen:
    case Verb::kPowerCut:
    case Verb::kMiddle:
    case Verb::kSetClock:
      return text + " " + std::to_string(operation.number);
    case Verb::kPut:
      return text + " " + operation.collection + PatchText(operation.patch);
    case Verb::kPlay:
    case Verb::kServe:
      return text + " " + operation.collection + (operation.grouped ? " grouped=1" : "") +
             EventsText(operation.events);
    case Verb::kExpose:
      return text + " " + operation.collection + (operation.grouped ? " grouped=1" : "") +
             (operation.surface.empty() ? "" : " on=" + operation.surface) +
             EventsText(operation.events);
    case Verb::kFilter:
      return text + " " + operation.collection + " " + operation.user +
             FilterText(operation.filter);
    case Verb::kMark:
      return text + " " + operation.user + " " + operation.surface +
             " until=" + std::to_string(operation.number) +
             " behind=" + std::to_string(operation.behind);
    case Verb::kUnmark:
      return text + " " + operation.user + " " + operation.surface;
    case Verb::kInspect:
    case Verb::kErase:
    case Verb::kPause:
    case Verb::kResume:
      return text + " " + operation.user;
    case Verb::kHistory:
      return text + " " + operation.user + " limit=" + std::to_string(operation.filter.limit) +
             OfText(operation.of);
    case Verb::kMore:
      return text + " " + operation.user + " pages=" + std::to_string(operation.number);
    case Verb::kClear:
      return text + " " + operation.user + OfText(operation.of) +
             (operation.number == 0 ? "" : " filter=1");
    case Verb::kLookup:
    case Verb::kDelete:
      return text + " " + operation.collection + " " + operation.user +
             " items=" + Joined(operation.filter.items);
    case Verb::kPublish:
      return text + " " + operation.topic + " " + std::to_string(operation.number) +
             EventsText(operation.events);
    case Verb::kIngest:
      return text + " " + operation.topic + " limit=" + std::to_string(operation.filter.limit) +
             " behind=" + std::to_string(operation.behind) +
             (operation.not_told ? " not_told=1" : "");
    case Verb::kForget:
      return text + " " + operation.topic + " new=" + std::to_string(operation.number);
    case Verb::kSeal:
      return text + " " + operation.collection + " " + std::to_string(operation.number);
    case Verb::kHeal:
      return text + " " + std::to_string(operation.number) +
             " seed=" + std::to_string(operation.seed);
    case Verb::kFail:
    case Verb::kCrash:
    case Verb::kCut:
      return text + " kinds=" + std::to_string(operation.kinds) +
             " part=" + (operation.part.empty() ? "-" : operation.part) +
             " skip=" + std::to_string(operation.number) +
             " error=" + (operation.error.empty() ? "eio" : operation.error) +
             " seed=" + std::to_string(operation.seed);
    default:
      return text;
  }
}

std::string ToText(const Script& script) {
  std::string text = "options";
  for (const Member& member : OptionMembers()) {
    text += std::string(" ") + member.name + "=" + std::to_string(member.get(script.options));
  }
  text += std::string(" options_files=") + (script.options_files ? "1" : "0") + "\n";
  for (const Operation& operation : script.operations) text += ToText(operation) + "\n";
  return text;
}

std::optional<Script> Parse(std::string_view text, std::string* error) {
  Script script;
  script.options.background = false;
  std::istringstream lines{std::string(text)};
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> words = Split(line, ' ');
    try {
      if (words[0] != "options") {
        script.operations.push_back(ReadOperation(words));
        continue;
      }
      for (size_t i = 1; i < words.size(); ++i) {
        const size_t equals = words[i].find('=');
        if (words[i] == "options_files=0") script.options_files = false;
        for (const Member& member : OptionMembers()) {
          if (words[i].substr(0, equals) != member.name) continue;
          member.set(script.options, ToNumber(words[i].substr(equals + 1)));
        }
      }
    } catch (const std::exception& e) {
      *error = "line " + std::to_string(number) + ": " + e.what();
      return std::nullopt;
    }
  }
  return script;
}

}  // namespace seendb::simulation
