#include "report_json.h"

namespace seendb::tool {
namespace {

/// The field called `name`, or null.
const Json* Find(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(name));
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

Json ToJson(const VerifyReport& report) {
  Json damages = Json::array();
  for (const DamageReport& damage : report.damages) {
    damages.push_back({{"shard", damage.shard},
                       {"family", damage.family},
                       {"key", damage.key},
                       {"reason", damage.reason},
                       {"newer", damage.newer}});
  }
  return {{"keys", report.keys},
          {"bytes", report.bytes},
          {"damaged", report.damaged},
          {"newer", report.newer},
          {"damages", std::move(damages)}};
}

namespace {

Json DamageToJson(const FileDamage& damage) {
  Json json = {{"file", damage.file}, {"kind", damage.kind}};
  if (!damage.family.empty()) json["family"] = damage.family;
  if (damage.offset) json["offset"] = *damage.offset;
  if (!damage.detail.empty()) json["detail"] = damage.detail;
  return json;
}

}  // namespace

Json ToJson(const FilesReport& report) {
  Json damages = Json::array();
  for (const FileDamage& damage : report.damages) damages.push_back(DamageToJson(damage));
  return {{"files", report.files}, {"bytes", report.bytes}, {"damages", std::move(damages)}};
}

Json ToJson(const StoresReport& report) {
  Json damages = Json::array();
  for (const StoreDamage& damage : report.damages) {
    damages.push_back({{"store", damage.store}, {"name", damage.name}, {"reason", damage.reason}});
    if (damage.newer) damages.back()["newer"] = true;
  }
  return {{"stores", report.stores},   {"rows", report.rows},   {"bytes", report.bytes},
          {"damaged", report.damaged}, {"newer", report.newer}, {"damages", damages}};
}

Json ToJson(const RepairReport& report) {
  Json files = Json::array();
  for (const RepairedFile& one : report.files) {
    Json file = DamageToJson(one.damage);
    file["action"] = one.action;
    file["salvaged"] = one.salvaged;
    file["bytes_left"] = one.bytes_left;
    file["kept_as"] = one.kept_as.empty() ? Json() : Json(one.kept_as);
    files.push_back(std::move(file));
  }
  return {{"dry_run", report.dry_run},
          {"files", std::move(files)},
          {"losses", report.losses},
          {"notes", report.notes}};
}

Json ToJson(const ScanRow& row) {
  return {{"shard", row.shard},
          {"family", row.family},
          {"key", row.key},
          {"value", row.value},
          {"bytes", row.bytes}};
}

uint64_t CountOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_number_unsigned() ? field->get<uint64_t>() : 0;
}

double NumberOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_number() ? field->get<double>() : 0;
}

int64_t TimeOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_number_integer() ? field->get<int64_t>() : 0;
}

bool FlagOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_boolean() && field->get<bool>();
}

std::string TextOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : std::string();
}

const Json& ListOf(const Json& object, std::string_view name) {
  static const Json kNone = Json::array();
  const Json* field = Find(object, name);
  return field != nullptr && field->is_array() ? *field : kNone;
}

}  // namespace seendb::tool
