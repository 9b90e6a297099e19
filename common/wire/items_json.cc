#include "wire/items_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "base/json_pointer.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "wire/events_json.h"
#include "wire/item_rules_json.h"
#include "wire/json_text.h"

namespace seendb::wire {
namespace {

constexpr std::array<std::string_view, 6> kItemTypeNames = {"bool", "i64",      "f32",
                                                            "text", "list_i64", "list_text"};

enum SchemaField : size_t { kFieldName, kFieldType, kFieldColumn };
constexpr std::array<std::string_view, 3> kSchemaFields = {"name", "type", "column"};

enum UpdateField : size_t { kItemId, kVersion, kSet, kUnset, kReplace, kRemove, kExpires };
constexpr std::array<std::string_view, 7> kUpdateFields = {
    "id", "version", "set", "unset", "replace", "delete", "expires_at"};

enum AskedMember : size_t { kAskedIds, kAskedFields };
constexpr std::array<std::string_view, 2> kAskedMembers = {"ids", "fields"};

Status ReadType(ondemand::value value, ItemFieldType* type) {
  std::string_view name;
  if (Status status = ReadText(value, &name); !status.ok()) return status;
  for (size_t i = 0; i < kItemTypeNames.size(); ++i) {
    if (kItemTypeNames[i] != name) continue;
    *type = static_cast<ItemFieldType>(i + 1);
    return Status::Ok();
  }
  return Status::InvalidArgument("must be bool, i64, f32, text, list_i64 or list_text");
}

Status ReadSchemaField(ondemand::object object, ItemField* field) {
  FieldSet fields(kSchemaFields);
  Status status = ReadFields(object, &fields, [&](size_t index, ondemand::value value) {
    if (index == kFieldType) return ReadType(value, &field->type);
    if (index == kFieldColumn) return ReadBool(value, &field->column);
    std::string_view name;
    Status read = ReadText(value, &name);
    field->name = name;
    return read;
  });
  if (status.ok()) status = fields.Require(kFieldName);
  return status.ok() ? fields.Require(kFieldType) : status;
}

Status ReadI64(ondemand::value value, int64_t* number) {
  const auto error = value.get_int64().get(*number);
  if (error == simdjson::SUCCESS) return Status::Ok();
  const bool wrong = error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR ||
                     error == simdjson::NUMBER_OUT_OF_RANGE;
  return wrong ? Status::InvalidArgument("must be a whole number of 64 bits") : Malformed(error);
}

Status ReadF32(ondemand::value value, float* number) {
  double read = 0;
  const auto error = value.get_double().get(read);
  const bool wrong = error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR ||
                     error == simdjson::NUMBER_OUT_OF_RANGE;
  if (error != simdjson::SUCCESS && !wrong) return Malformed(error);
  constexpr double kMost = std::numeric_limits<float>::max();
  constexpr double kRoundedUp = 0x1.ffffffp127;  // from here on the nearest float is infinite
  if (wrong || !(std::abs(read) < kRoundedUp)) {
    return Status::InvalidArgument("must be a number that a float of 32 bits can hold");
  }
  *number = static_cast<float>(std::clamp(read, -kMost, kMost));
  return Status::Ok();
}

template <typename List, typename Read>
Status ReadList(ondemand::value value, ItemValue* into, const Read& read) {
  List list;
  Status status = ReadElements(value, kMaxItemListEntries, "entries",
                               [&](size_t, ondemand::value one) { return read(one, &list); });
  *into = std::move(list);
  return status;
}

Status ReadItemValue(ondemand::value value, ItemFieldType type, ItemValue* into) {
  switch (type) {
    case ItemFieldType::kBool:
      return ReadBool(value, &into->emplace<bool>());
    case ItemFieldType::kI64:
      return ReadI64(value, &into->emplace<int64_t>());
    case ItemFieldType::kF32:
      return ReadF32(value, &into->emplace<float>());
    case ItemFieldType::kText: {
      std::string_view text;
      Status status = ReadText(value, &text);
      *into = std::string(text);
      return status;
    }
    case ItemFieldType::kI64List:
      return ReadList<std::vector<int64_t>>(value, into, [](ondemand::value one, auto* list) {
        return ReadI64(one, &list->emplace_back());
      });
    case ItemFieldType::kTextList:
      return ReadList<std::vector<std::string>>(value, into, [](ondemand::value one, auto* list) {
        std::string_view text;
        Status status = ReadText(one, &text);
        list->emplace_back(text);
        return status;
      });
  }
  return Status::InvalidArgument("has no type");
}

Status UnknownField(std::string_view name) {
  const std::string told(Utf8Prefix(name, kMaxSuggestedBytes));
  return Status::InvalidArgument("the schema has no field " + told, PointerTo(told));
}

/// `{"author":"a3"}`: each member is a field of the schema.
Status ReadSet(ondemand::value value, const ItemTypes& types, std::vector<ItemFieldValue>* set) {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) {
    return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                             : Malformed(error);
  }
  for (auto member : object) {
    ondemand::field field;
    if (const auto error = std::move(member).get(field)) return Malformed(error);
    std::string_view name;
    if (const auto error = field.unescaped_key().get(name)) return Malformed(error);
    const auto type = types.find(name);
    if (type == types.end()) return UnknownField(name);
    if (set->size() == kMaxItemFields) {
      return Status::InvalidArgument("names more than 1024 fields");
    }
    ItemFieldValue& one = set->emplace_back();
    one.name = type->first;
    if (*field.value().raw_json_token().data() == 'n') {
      return Status::InvalidArgument("is null; a field is taken away by \"unset\"",
                                     PointerTo(one.name));
    }
    Status status = ReadItemValue(field.value(), type->second, &one.value);
    if (!status.ok()) return Within(std::move(status), PointerTo(one.name));
  }
  return Status::Ok();
}

Status ReadVersion(ondemand::value value, uint64_t* version) {
  if (Status status = ReadUint(value, version); !status.ok()) return status;
  if (*version >= 1 && *version <= kMaxItemVersion) return Status::Ok();
  return Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxItemVersion));
}

Status ReadUpdate(ondemand::object object, const ItemTypes& types, ItemUpdate* update) {
  *update = ItemUpdate();
  FieldSet fields(kUpdateFields);
  std::string_view token;
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    switch (field) {
      case kItemId:
        return ReadId(value, &update->id, &token);
      case kVersion:
        return ReadVersion(value, &update->version);
      case kSet:
        return ReadSet(value, types, &update->set);
      case kUnset:
        return ReadItemNames(value, &update->unset);
      case kReplace:
        return ReadBool(value, &update->replace);
      case kRemove:
        return ReadBool(value, &update->remove);
      default:
        return ReadTime(value, &update->expires_at_ms);
    }
  });
  if (status.ok()) status = fields.Require(kItemId);
  return status.ok() ? fields.Require(kVersion) : status;
}

/// The shortest text that reads back as the same number.
void AppendReal(float value, std::string* out) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out->append(text.data(), end);
}

struct ValueWriter {
  std::string* out;

  void operator()(bool value) const { out->append(value ? "true" : "false"); }
  void operator()(int64_t value) const { out->append(std::to_string(value)); }
  void operator()(float value) const { AppendReal(value, out); }
  void operator()(const std::string& value) const { AppendJsonString(value, out); }
  template <typename T>
  void operator()(const std::vector<T>& list) const {
    out->push_back('[');
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out->push_back(',');
      (*this)(list[i]);
    }
    out->push_back(']');
  }
};

}  // namespace

std::string_view ItemTypeName(ItemFieldType type) {
  return kItemTypeNames[static_cast<size_t>(type) - 1];
}

Status ParseItemSchema(std::string_view body, std::vector<ItemField>* fields) {
  constexpr std::array<std::string_view, 1> kMembers = {"fields"};
  JsonDocument document;
  FieldSet members(kMembers);
  fields->clear();
  Status status = ReadObject(body, &document, &members, [&](size_t, ondemand::value value) {
    return ReadObjects(value, kMaxItemFields, "fields", [&](ondemand::object object) {
      return ReadSchemaField(object, &fields->emplace_back());
    });
  });
  return status.ok() ? members.Require(0) : status;
}

void AppendItemSchema(const std::vector<ItemField>& fields, std::string* out) {
  out->append("{\"fields\":[");
  for (size_t i = 0; i < fields.size(); ++i) {
    out->append(i == 0 ? "{\"name\":" : ",{\"name\":");
    AppendJsonString(fields[i].name, out);
    out->append(",\"type\":\"").append(ItemTypeName(fields[i].type));
    out->append(fields[i].column ? "\",\"column\":true}" : "\",\"column\":false}");
  }
  out->append("]}");
}

Status ParseItemUpdates(std::string_view body, const ItemTypes& types, JsonDocument* document,
                        std::vector<ItemUpdate>* updates) {
  constexpr std::array<std::string_view, 1> kMembers = {"items"};
  FieldSet members(kMembers);
  updates->clear();
  Status status = ReadObject(body, document, &members, [&](size_t, ondemand::value value) {
    return ReadObjects(value, SIZE_MAX, "items", [&](ondemand::object object) {
      return ReadUpdate(object, types, &updates->emplace_back());
    });
  });
  return status.ok() ? members.Require(0) : status;
}

Status ParseItemMessage(std::string_view message, size_t most, const ItemTypes& types,
                        JsonDocument* document, std::vector<ItemUpdate>* updates) {
  ondemand::value root;
  if (Status status = document->Begin(message, &root); !status.ok()) return status;
  ondemand::json_type type{};
  if (const auto error = root.type().get(type)) return Malformed(error);
  const auto read = [&](ondemand::object one) {
    return ReadUpdate(one, types, &updates->emplace_back());
  };
  Status status;
  if (type == ondemand::json_type::array) {
    status = ReadObjects(root, most, "updates", read);
  } else {
    ondemand::object object;
    const auto error = root.get_object().get(object);
    status = error ? Malformed(error) : read(object);
  }
  return status.ok() ? document->End() : status;
}

Status ParseItemUpdate(std::string_view line, const ItemTypes& types, JsonDocument* document,
                       ItemUpdate* update) {
  ondemand::object root;
  if (Status status = document->Begin(line, &root); !status.ok()) return status;
  if (Status status = ReadUpdate(root, types, update); !status.ok()) return status;
  return document->End();
}

Status ParseItemsAsked(std::string_view body, JsonDocument* document, ItemsAsked* asked) {
  FieldSet members(kAskedMembers);
  *asked = ItemsAsked();
  Status status = ReadObject(body, document, &members, [&](size_t member, ondemand::value value) {
    if (member == kAskedFields) return ReadItemNames(value, &asked->fields);
    return ReadElements(value, kMaxItemsAsked, "ids", [&](size_t, ondemand::value one) {
      return ReadId(one, &asked->ids.emplace_back(), &asked->tokens.emplace_back());
    });
  });
  return status.ok() ? members.Require(kAskedIds) : status;
}

void AppendItemFields(const std::vector<ItemFieldValue>& fields, std::string* out) {
  out->push_back('{');
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonString(fields[i].name, out);
    out->push_back(':');
    std::visit(ValueWriter{out}, fields[i].value);
  }
  out->push_back('}');
}

void AppendItems(const ItemsAsked& asked, const std::vector<Item>& items, std::string* out) {
  out->append("{\"items\":[");
  size_t at = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    while (!(asked.ids[at] == IdRef(items[i].id))) ++at;
    out->append(i == 0 ? "{\"id\":" : ",{\"id\":").append(asked.tokens[at++]);
    out->append(",\"version\":").append(std::to_string(items[i].version));
    out->append(",\"fields\":");
    AppendItemFields(items[i].fields, out);
    out->push_back('}');
  }
  out->append("]}");
}

void AppendItemsTaken(const ItemsTaken& taken, std::string* out) {
  out->append("{\"accepted\":").append(std::to_string(taken.accepted));
  out->append(",\"stale\":").append(std::to_string(taken.stale));
  out->append(",\"refused\":").append(std::to_string(taken.refused));
  out->append(",\"refusals\":[");
  for (size_t i = 0; i < taken.refusals.size(); ++i) {
    const RefusedItem& refusal = taken.refusals[i];
    out->append(i == 0 ? "{\"index\":" : ",{\"index\":").append(std::to_string(refusal.index));
    out->append(",\"error\":");
    AppendErrorObject(StatusCodeName(refusal.status.code()), refusal.status.message(),
                      refusal.status.field(), out);
    out->push_back('}');
  }
  out->append("]}");
}

}  // namespace seendb::wire
