#include "store/collections_file.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "format/bytes.h"
#include "store/files.h"
#include "store/status.h"

namespace seendb {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kCollectionsFormat = 1;

std::string CollectionsPath(const std::string& root) { return root + "/" + kCollectionsName; }

std::string CollectionsText(const CollectionRecords& records, bool changing) {
  OrderedJson all = OrderedJson::object();
  for (const auto& [name, record] : records) {
    OrderedJson& json = all[name] = {{"making", record.making}, {"revision", record.revision}};
    if (record.policy) json["policy"] = OrderedJson::parse(PolicyToJson(*record.policy));
  }
  OrderedJson file{{"format", kCollectionsFormat}, {"sum", HashBytes(all.dump())}};
  if (changing) file["changing"] = true;
  file["collections"] = std::move(all);
  return file.dump(2) + "\n";
}

CollectionRecord RecordFromJson(const OrderedJson& json) {
  CollectionRecord record;
  record.making = json.at("making").get<uint64_t>();
  record.revision = json.at("revision").get<uint64_t>();
  if (!json.contains("policy")) return record;
  const Result<PolicyPatch> patch = PolicyPatchFromJson(json.at("policy").dump());
  if (patch.ok()) record.policy = ApplyPatch({}, *patch);
  if (!record.policy || !ValidatePolicy(*record.policy).ok()) {
    throw nlohmann::json::other_error::create(501, "a policy is not valid", nullptr);
  }
  return record;
}

}  // namespace

Result<std::optional<CollectionRecords>> ReadCollections(rocksdb::Env* env, const std::string& root,
                                                         bool* changing) {
  const std::string path = CollectionsPath(root);
  std::string text;
  const rocksdb::Status read = rocksdb::ReadFileToString(env, path, &text);
  if (read.IsNotFound() || read.IsPathNotFound()) return std::optional<CollectionRecords>();
  if (!read.ok()) return FromRocks(read, "read " + path);
  CollectionRecords records;
  bool is_changing = false;
  try {
    const OrderedJson parsed = OrderedJson::parse(text);
    if (parsed.at("format").get<int>() > kCollectionsFormat) {
      return Status::Incompatible(path + " was written by newer software");
    }
    is_changing = parsed.contains("changing");
    for (const auto& [name, json] : parsed.at("collections").items()) {
      records[name] = RecordFromJson(json);
    }
  } catch (const nlohmann::json::exception& e) {
    return Status::Corruption(path + " is damaged: " + e.what());
  }
  if (CollectionsText(records, is_changing) != text) {
    return Status::Corruption(path + " is damaged: it is not as it was written");
  }
  if (changing != nullptr) *changing = is_changing;
  return std::optional<CollectionRecords>(std::move(records));
}

Status WriteCollections(rocksdb::Env* env, const std::string& root,
                        const CollectionRecords& records, bool changing) {
  return ReplaceFile(env, CollectionsPath(root), CollectionsText(records, changing), true);
}

}  // namespace seendb
