#include "items/schema.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "base/utf8.h"

namespace seendb::items {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxNameBytes = 255;

Status Wrong(size_t position, const char* member, std::string message) {
  return Status::InvalidArgument(std::move(message), "/" + std::to_string(position) + "/" + member);
}

Status CheckField(size_t position, const ItemField& field) {
  if (field.name.empty() || field.name.size() > kMaxNameBytes || !IsUtf8(field.name)) {
    return Wrong(position, "name", "a field's name is 1 to 255 bytes of UTF-8");
  }
  if (TypeName(field.type) == "unknown") return Wrong(position, "type", "no type of a field");
  const bool is_list =
      field.type == ItemFieldType::kI64List || field.type == ItemFieldType::kTextList;
  if (field.column && is_list) return Wrong(position, "column", "a list has no column");
  return {};
}

}  // namespace

Result<Schema> Schema::With(const std::vector<ItemField>& fields) const {
  if (fields.size() > kMaxItemFields) {
    return Status::InvalidArgument("a schema has at most 1024 fields",
                                   "/" + std::to_string(kMaxItemFields));
  }
  Schema made;
  made.types_ = types_;
  made.next_ = next_;
  made.was_put_ = true;
  for (size_t i = 0; i < fields.size(); ++i) {
    const ItemField& field = fields[i];
    if (Status status = CheckField(i, field); !status.ok()) return status;
    const auto known = Find(field.name);
    const uint16_t number = known ? fields_[*known].number : made.next_;
    if (known && fields_[*known].field.type != field.type) {
      return Wrong(i, "type",
                   field.name + " is " + std::string(TypeName(fields_[*known].field.type)) +
                       "; a field of another type needs another name");
    }
    if (!known && made.next_ == kMaxItemFields) {
      return Wrong(i, "name", "all 1024 numbers of fields were used, also those of removed fields");
    }
    if (!known) made.types_[made.next_++] = field.type;
    if (!made.by_name_.emplace(field.name, i).second) {
      return Wrong(i, "name", field.name + " is named twice");
    }
    made.fields_.push_back({field, number});
  }
  made.Index();
  return made;
}

void Schema::Index() {
  for (const Numbered& one : fields_) {
    present_[one.number] = true;
    columns_[one.number] = one.field.column;
  }
}

std::optional<size_t> Schema::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::string Schema::ToJson() const {
  Json fields = Json::array(), types = Json::array();
  for (const Numbered& one : fields_) {
    fields.push_back(
        {{"name", one.field.name}, {"number", one.number}, {"column", one.field.column}});
  }
  for (uint16_t number = 0; number < next_; ++number) types.push_back(TypeName(types_[number]));
  return Json({{"fields", std::move(fields)}, {"types", std::move(types)}}).dump();
}

Result<Schema> Schema::FromJson(const std::string& text) {
  const Status damaged = Status::Corruption("the schema of the items can't be read");
  const Json json = ParseOutside<Json>(text);
  if (!json.is_object() || !json.contains("fields") || !json.contains("types") ||
      !json["fields"].is_array() || !json["types"].is_array() ||
      json["types"].size() > kMaxItemFields) {
    return damaged;
  }
  Schema made;
  made.was_put_ = true;
  for (const Json& name : json["types"]) {
    const auto type =
        name.is_string() ? TypeOfName(name.get<std::string>()) : std::optional<ItemFieldType>();
    if (!type) return damaged;
    made.types_[made.next_++] = *type;
  }
  for (const Json& one : json["fields"]) {
    if (!one.is_object() || !one.contains("name") || !one["name"].is_string() ||
        !one.contains("number") || !one.contains("column") || !one["column"].is_boolean()) {
      return damaged;
    }
    const auto number = WholeNumber(one["number"], kMaxItemFields - 1);
    if (!number || *number >= made.next_) return damaged;
    const ItemField field{.name = one["name"].get<std::string>(),
                          .type = made.types_[*number],
                          .column = one["column"].get<bool>()};
    if (!CheckField(made.fields_.size(), field).ok() || made.present_[*number] ||
        !made.by_name_.emplace(field.name, made.fields_.size()).second) {
      return damaged;
    }
    made.present_[*number] = true;
    made.fields_.push_back({field, static_cast<uint16_t>(*number)});
  }
  made.Index();
  return made;
}

}  // namespace seendb::items

namespace seendb {

Status ValidateItemSchema(const std::vector<ItemField>& fields) {
  return items::Schema().With(fields).status();
}

}  // namespace seendb
