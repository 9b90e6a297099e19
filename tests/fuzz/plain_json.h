// tests/fuzz/plain_json.h: the server's request bodies read in the plainest way, with nlohmann_json
// and no thought of speed: what the fast readers of server/api must agree with.
//
// The rules are those of json_read.h: fields known and once, one type each, integers unsigned and
// written without sign, fraction or exponent, strings in UTF-8, nothing behind the document.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "seendb/history.h"
#include "seendb/id.h"
#include "wire/json_read.h"

namespace seendb::fuzz {

using Json = nlohmann::json;

/// Deepest nesting of a document that is read plainly: nlohmann_json copies by recursion. The fast
/// readers refuse whatever is deeper (simdjson's limit is 1,024).
inline constexpr size_t kPlainDepth = 1'000;

/// Judges a document while its parser walks it, by no more than the path to where it is: whether an
/// object repeats a member, and how deep values are nested. What is inside a member called "fields"
/// is somebody else's affair and may repeat.
class PlainShape : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    Level& object = open_.back();
    object.last = name;
    return object.opaque || object.names.insert(name).second;
  }
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  struct Level {
    std::set<std::string> names;
    std::string last;
    bool opaque = false;
  };

  bool Open() {
    const bool opaque = !open_.empty() && (open_.back().opaque || open_.back().last == "fields");
    open_.push_back({{}, {}, opaque});
    return open_.size() <= kPlainDepth;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  std::vector<Level> open_;
};

/// A document; nothing where it is none, is nested deeper than kPlainDepth, or an object in it
/// repeats a member.
inline std::optional<Json> PlainDocument(std::string_view text) {
  // nlohmann_json would skip a mark in front, and take a zero byte for the end.
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != std::string_view::npos) return {};
  PlainShape shape;
  if (!Json::sax_parse(text.begin(), text.end(), &shape)) return {};
  return Json::parse(text.begin(), text.end());
}

/// True for an object with none but these fields.
inline bool HasOnly(const Json& object, const std::set<std::string>& names) {
  if (!object.is_object()) return false;
  for (const auto& [name, value] : object.items()) {
    if (!names.contains(name)) return false;
  }
  return true;
}

/// An id's text; nothing where it is none.
inline std::optional<std::string> PlainId(const Json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return {};
  if (at->is_number_unsigned()) return std::to_string(at->get<uint64_t>());
  if (!at->is_string()) return {};
  std::string text = at->get<std::string>();
  if (text.empty() || text.size() > kMaxIdBytes) return {};
  return text;
}

/// Ids of an array; nothing where it is none of at most `most` ids.
inline std::optional<std::vector<std::string>> PlainIds(const Json& object, const char* name,
                                                        size_t most) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_array() || at->size() > most) return {};
  std::vector<std::string> ids;
  for (const Json& element : *at) {
    const auto id = PlainId({{"id", element}}, "id");
    if (!id) return {};
    ids.push_back(*id);
  }
  return ids;
}

/// Whether a member is not there, or is null, which is the same.
inline bool IsAbsent(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at == object.end() || at->is_null();
}

/// Reads `name` into `*to` where it is there; false where it has another type.
inline bool PlainUint(const Json& object, const char* name, uint64_t* to) {
  if (IsAbsent(object, name)) return true;
  const auto at = object.find(name);
  if (!at->is_number_unsigned()) return false;
  *to = at->get<uint64_t>();
  return true;
}
inline bool PlainBool(const Json& object, const char* name, bool* to) {
  if (IsAbsent(object, name)) return true;
  const auto at = object.find(name);
  if (!at->is_boolean()) return false;
  *to = at->get<bool>();
  return true;
}
inline bool PlainText(const Json& object, const char* name, std::optional<std::string>* to) {
  if (IsAbsent(object, name)) return true;
  const auto at = object.find(name);
  if (!at->is_string()) return false;
  *to = at->get<std::string>();
  return true;
}

/// What a player says.
struct PlainWatch {
  std::optional<int64_t> progress_s, duration_s;
  std::string device;
  Json fields;
  bool operator==(const PlainWatch&) const = default;
};

inline PlainWatch PlainWatchOf(const Watch& watch) {
  return {watch.progress_s, watch.duration_s, std::string(watch.device),
          watch.fields.empty() ? Json() : Json::parse(watch.fields)};
}

/// Whole seconds of at least `least`; `*to` stays as it is where there are none.
inline bool PlainSeconds(const Json& object, const char* name, int64_t least,
                         std::optional<int64_t>* to) {
  if (IsAbsent(object, name)) return true;
  const auto at = object.find(name);
  const bool sound = at->is_number_unsigned()
                         ? at->get<uint64_t>() <= INT32_MAX
                         : least == -1 && at->is_number_integer() && at->get<int64_t>() == -1;
  if (sound) *to = at->get<int64_t>();
  return sound;
}

/// The members of a play that a player says; nothing where one is none. How long the text of
/// "fields" was is not known here.
inline std::optional<PlainWatch> PlainWatchOf(const Json& object) {
  PlainWatch watch;
  std::optional<std::string> device;
  if (!PlainSeconds(object, "progress_s", -1, &watch.progress_s) ||
      !PlainSeconds(object, "duration_s", 0, &watch.duration_s) ||
      !PlainText(object, "device", &device) || (device && device->size() > kMaxDeviceBytes)) {
    return {};
  }
  watch.device = device.value_or("");
  if (!IsAbsent(object, "fields")) {
    if (!object.at("fields").is_object()) return {};
    if (JsonDepth(object.at("fields").dump()) > wire::kMaxOpaqueDepth) return {};
    watch.fields = object.at("fields");
  }
  return watch;
}

/// A play or an impression.
struct PlainEvent {
  std::string user, item;
  std::optional<int64_t> at_ms = {};
  std::optional<PlainWatch> watch;
  std::string day = {};
  bool operator==(const PlainEvent&) const = default;
};

/// A day, or none: text that is empty or a date of the calendar.
inline std::optional<std::string> PlainDayOf(const Json& value) {
  if (!value.is_string()) return {};
  const std::string text = value.get<std::string>();
  if (text.empty()) return text;
  std::string digits = text;
  digits.erase(std::remove(digits.begin(), digits.end(), '-'), digits.end());
  const bool shaped = text.size() == 10 && text[4] == '-' && text[7] == '-' && digits.size() == 8 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  if (!shaped) return {};
  const std::chrono::year_month_day date(
      std::chrono::year(std::stoi(digits.substr(0, 4))),
      std::chrono::month(static_cast<unsigned>(std::stoi(digits.substr(4, 2)))),
      std::chrono::day(static_cast<unsigned>(std::stoi(digits.substr(6)))));
  if (!date.ok()) return {};
  return text;
}

/// A time; `*to` stays as it is where there is none.
inline bool PlainTime(const Json& object, std::optional<int64_t>* to) {
  if (IsAbsent(object, "at")) return true;
  uint64_t number = 0;
  if (!PlainUint(object, "at", &number)) return false;
  if (number > static_cast<uint64_t>(INT64_MAX)) return false;
  *to = static_cast<int64_t>(number);
  return true;
}

inline std::optional<PlainEvent> PlainImpressionOf(const Json& object) {
  if (!HasOnly(object, {"user", "item", "at"})) return {};
  const auto user = PlainId(object, "user"), item = PlainId(object, "item");
  PlainEvent event{user.value_or(""), item.value_or(""), {}, {}};
  if (!user || !item || !PlainTime(object, &event.at_ms)) return {};
  return event;
}

/// A play: the same, and maybe what the player says, and the day its client was told.
inline std::optional<PlainEvent> PlainPlayOf(const Json& object) {
  if (!object.is_object()) return {};
  Json bare = object, watch = Json::object();
  for (const char* name : {"progress_s", "duration_s", "device", "fields"}) {
    if (!IsAbsent(object, name)) watch[name] = object.at(name);
    bare.erase(name);
  }
  std::optional<std::string> day = "";
  if (!IsAbsent(object, "day")) day = PlainDayOf(object.at("day"));
  bare.erase("day");
  auto event = PlainImpressionOf(bare);
  if (!event || !day) return {};
  event->day = *day;
  if (watch.empty()) return event;
  event->watch = PlainWatchOf(watch);
  if (!event->watch) return {};
  return event;
}

}  // namespace seendb::fuzz
