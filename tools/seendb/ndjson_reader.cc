#include "ndjson_reader.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

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

NdjsonReader::NdjsonReader(RecordReader::ReadFn read, const PlayColumns& columns)
    : PlayReader(std::move(read), RecordFormat{'\n', false}, columns) {
  const auto add = [this](const ColumnNames& names) {
    auto form = std::make_unique<Form>();
    form->names = names;
    form->items.assign(form->names.item_names.begin(), form->names.item_names.end());
    if (form->items.empty()) form->items.assign(kItemNames.begin(), kItemNames.end());
    forms_.push_back(std::move(form));
  };
  add(columns_);
  for (const ColumnNames& names : columns_.others) add(names);
}

std::string NdjsonReader::ColumnsText() const {
  const auto name = [](const std::string& given, const std::vector<std::string>& tried) {
    if (!given.empty()) return "field " + given;
    std::string all = tried.empty() ? std::string("the usual names") : "field " + tried[0];
    for (size_t i = 1; i < tried.size(); ++i) all += " or " + tried[i];
    return all;
  };
  std::string text = columns_.one_user.empty() ? "user from " + name(columns_.user, {})
                                               : "user " + columns_.one_user;
  for (const auto& form : forms_) {
    const ColumnNames& names = form->names;
    text += form == forms_.front() ? ", item from " : "; or item from ";
    if (!names.item_of.empty()) text += "field " + names.item_of + " and ";
    text += name(names.item, names.item_names);
    if (!names.item_after.empty()) text += " behind \"" + names.item_after + "\"";
    if (!columns_.now) text += ", time from " + name(names.time, {});
  }
  return columns_.now ? text + ", all played now" : text;
}

/// The names of which the line has item and time; else the first.
const NdjsonReader::Form& NdjsonReader::FormOf(const nlohmann::json& object) const {
  for (const auto& form : forms_) {
    const bool has_item = FindField(object, form->names.item, form->items) != nullptr;
    if (has_item && (columns_.now || FindField(object, form->names.time, kTimeNames) != nullptr)) {
      return *form;
    }
  }
  return *forms_.front();
}

bool NdjsonReader::ReadItem(const nlohmann::json& object, const Form& form, std::string* error) {
  if (!ReadId(FindField(object, form.names.item, form.items), "item", &item_, error)) return false;
  const std::string& of = form.names.item_of;
  if (of.empty()) return true;
  const nlohmann::json* const before = FindField(object, of, {});
  if (before == nullptr || !before->is_string()) {
    *error = "no " + of + " field, which its item begins with; or name one by --item-column";
    return false;
  }
  item_ = before->get<std::string>() + " - " + item_;
  return true;
}

bool NdjsonReader::ReadWatch(const nlohmann::json& object, const ColumnNames& names,
                             std::string_view text, PlayRow* row, std::string* error) {
  for (size_t i = 0; i < kWatchNames.size(); ++i) {
    const std::string_view name = names.watch[i].empty() ? kWatchNames[i] : names.watch[i];
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
  const Form& form = FormOf(object);
  if ((user_.empty() &&
       !ReadId(FindField(object, form.names.user, kUserNames), "user", &user_, error)) ||
      !ReadItem(object, form, error)) {
    return false;
  }
  row->user = user_;
  row->item = item_;
  if (!ReadWatch(object, form.names, {record.data(), record.size()}, row, error)) return false;
  row->at_ms = std::nullopt;
  if (columns_.now) return true;
  const nlohmann::json* time = FindField(object, form.names.time, kTimeNames);
  if (time == nullptr) {
    *error = "no time field; name it by --time-column or say --now";
    return false;
  }
  return ParseTime(TimeText(*time), row, error);
}

}  // namespace seendb::tool
