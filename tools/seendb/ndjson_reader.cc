#include "ndjson_reader.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "seendb/events.h"

namespace seendb::tool {
namespace {

constexpr size_t kRowDepthMost = 64;

/// The value at a path as RFC 6901 writes it ("/track/ids/slug"); null: there is none.
const nlohmann::json* FindPath(const nlohmann::json& object, std::string_view path) {
  try {
    const nlohmann::json::json_pointer at{std::string(path)};
    return object.contains(at) ? &object.at(at) : nullptr;
  } catch (const nlohmann::json::exception&) {  // a "~" that escapes nothing
    return nullptr;
  }
}

const nlohmann::json* FindField(const nlohmann::json& object, std::string_view wanted,
                                std::span<const std::string_view> usual) {
  if (wanted.starts_with('/')) return FindPath(object, wanted);
  if (!wanted.empty()) usual = {&wanted, 1};
  for (const std::string_view name : usual) {
    const auto found = object.find(std::string(name));
    if (found != object.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

bool ReadId(const nlohmann::json* field, const char* what, std::string* id, std::string* error) {
  if (field == nullptr) {
    *error = std::string("no ") + what + " field; name it by --" + what + "-column";
    if (what == std::string_view("user")) *error += ", or say whose log it is by --user";
  } else if (field->is_string()) {
    *id = field->get<std::string>();
    return true;
  } else if (field->is_number_unsigned()) {
    *id = std::to_string(field->get<uint64_t>());
    return true;
  } else if (field->is_array()) {
    *error = std::string(what) + ": an array; write a line for each of its members";
  } else {
    *error = std::string(what) + ": neither a string nor an unsigned 64-bit integer";
  }
  return false;
}

/// The field as text, as ReadTime takes it.
std::string TimeText(const nlohmann::json& field) {
  if (field.is_string()) return field.get<std::string>();
  if (!field.is_number()) return field.type_name();  // writing a deep array would take the stack
  if (field.is_number_float() && std::abs(field.get<double>()) < 9.2e18) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.3f", field.get<double>());
    return text;
  }
  return field.dump();
}

}  // namespace

bool NdjsonReader::ReadWatch(const nlohmann::json& object, std::string_view text, PlayRow* row,
                             std::string* error) {
  for (size_t i = 0; i < kWatchNames.size(); ++i) {
    const std::string_view name = columns_.watch[i].empty() ? kWatchNames[i] : columns_.watch[i];
    const nlohmann::json* const member = FindField(object, name, {});
    if (member == nullptr || member->is_null()) continue;
    const auto field = static_cast<WatchField>(i);
    std::string span;
    std::string_view value;
    if (field == kFields) {
      value = name.starts_with('/') ? fields_ = member->dump() : RawMember(text, name);
    } else if (field == kDevice) {
      if (!member->is_string()) {
        *error = "device: not a string";
        return false;
      }
      value = device_ = member->get<std::string>();
    } else {
      value = span = member->is_number_integer() ? member->dump() : TimeText(*member);
    }
    if (!ParseWatch(field, value, row, error)) return false;
  }
  return true;
}

bool NdjsonReader::Parse(std::span<char> record, PlayRow* row, std::string* error) {
  const nlohmann::json object = ParseOutside({record.data(), record.size()}, kRowDepthMost);
  // The parser takes a zero byte for the end.
  if (!object.is_object() || std::find(record.begin(), record.end(), '\0') != record.end()) {
    *error = "not a JSON object; each line has one";
    return false;
  }
  user_ = columns_.one_user;
  if ((user_.empty() &&
       !ReadId(FindField(object, columns_.user, kUserNames), "user", &user_, error)) ||
      !ReadId(FindField(object, columns_.item, item_names_), "item", &item_, error)) {
    return false;
  }
  row->user = user_;
  row->item = item_;
  if (!ReadWatch(object, {record.data(), record.size()}, row, error)) return false;
  row->at_ms = std::nullopt;
  if (columns_.now) return true;
  const nlohmann::json* time = FindField(object, columns_.time, kTimeNames);
  if (time == nullptr) {
    *error = "no time field; name it by --time-column or say --now";
    return false;
  }
  return ParseTime(TimeText(*time), row, error);
}

}  // namespace seendb::tool
