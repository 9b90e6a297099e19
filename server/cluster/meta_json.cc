// The fold as JSON: an object whose parts are the records that make it.

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "cluster/meta.h"

namespace seendb::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFoldFormat = 2;

Json RecordJson(const MetaRecord& record) { return Json::parse(EncodeMeta(record)); }

/// A record of the kind T out of a part of the document.
template <typename T>
Result<T> RecordOf(const Json& json) {
  Result<MetaRecord> record = DecodeMeta(json.dump());
  if (!record.ok()) return record.status();
  T* const one = std::get_if<T>(&*record);
  if (one == nullptr) return Status::Corruption("a record of another kind");
  return std::move(*one);
}

}  // namespace

std::string Meta::ToJson() const {
  Json json{{"format", kFoldFormat}, {"next_offset", next_offset_}, {"log_version", log_version_}};
  json["init"] = init_ ? RecordJson(*init_) : Json();
  json["members"] = Json::array();
  json["leaving"] = Json::array();
  for (const auto& [node, member] : members_) {
    json["members"].push_back(RecordJson(MemberRecord{node, member.url, member.zone, member.weight,
                                                      member.build, false, member.log_version}));
    if (member.leaving) json["leaving"].push_back(node);
  }
  json["placement_offset"] = placement_.offset;
  json["placement"] =
      placement_.assign.empty() ? Json() : RecordJson(PlacementRecord{-1, placement_.assign});
  json["named"] = ever_named_;
  json["collections"] = Json::array();
  json["made_by"] = Json::object();
  for (const auto& [name, collection] : collections_) {
    json["collections"].push_back(
        RecordJson(CollectionRecord{name, PolicyToJson(collection.policy), collection.made_at_ms}));
    json["made_by"][name] = collection.made_by;
  }
  return json.dump(2);
}

Result<Meta> Meta::FromJson(std::string_view text) {
  const Status bad = Status::Corruption("no fold of X.meta");
  const Json json = ParseOutside<Json>(text, 2 * kOutsideDepthMost);
  if (!json.is_object() || json.value("format", Json()) != kFoldFormat) return bad;
  try {
    Meta meta;
    meta.next_offset_ = json.at("next_offset").get<int64_t>();
    meta.log_version_ = json.at("log_version").get<uint32_t>();
    if (!json.at("init").is_null()) {
      Result<InitRecord> init = RecordOf<InitRecord>(json.at("init"));
      if (!init.ok()) return bad;
      meta.init_ = std::move(init).value();
    }
    for (const Json& one : json.at("members")) {
      const Result<MemberRecord> record = RecordOf<MemberRecord>(one);
      if (!record.ok()) return bad;
      meta.members_[record->node] = {record->url,   record->zone, record->weight,
                                     record->build, false,        record->log_version};
    }
    for (const Json& node : json.at("leaving")) {
      meta.members_.at(node.get<std::string>()).leaving = true;
    }
    meta.placement_.offset = json.at("placement_offset").get<int64_t>();
    if (!json.at("placement").is_null()) {
      Result<PlacementRecord> record = RecordOf<PlacementRecord>(json.at("placement"));
      if (!record.ok()) return bad;
      meta.placement_.assign = std::move(record->assign);
    }
    if (json.contains("named")) {
      meta.ever_named_ = json.at("named").get<std::vector<std::set<std::string>>>();
      if (meta.ever_named_.size() != meta.placement_.assign.size()) return bad;
    } else {  // of older software, which did not keep them
      meta.NoteNamed();
      for (auto& named : meta.ever_named_) named.emplace(kOtherNodes);
    }
    for (const Json& one : json.at("collections")) {
      const Result<CollectionRecord> record = RecordOf<CollectionRecord>(one);
      if (!record.ok()) return bad;
      const Result<PolicyPatch> patch = PolicyPatchFromJson(record->patch);
      meta.collections_[record->name] = {ApplyPatch({}, *patch), record->at_ms,
                                         json.at("made_by").at(record->name).get<int64_t>()};
    }
    return meta;
  } catch (const std::exception&) {
    return bad;
  }
}

}  // namespace seendb::cluster
