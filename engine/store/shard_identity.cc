#include "store/shard_identity.h"

#include <nlohmann/json.hpp>

namespace seendb {

std::optional<ShardIdentity> ShardIdentity::FromJson(std::string_view json) {
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, false);
  try {
    ShardIdentity identity{parsed.at("format").get<int64_t>(), parsed.at("id").get<std::string>(),
                           parsed.at("shard").get<uint32_t>(), parsed.at("shards").get<uint32_t>()};
    identity.hash.version = parsed.value("hash", kOldestHashVersion);  // which did not name it
    if (identity.hash.version == kOldestHashVersion) return identity;
    const auto key = ParseHashKey(parsed.at("hash_key").get<std::string>());
    if (!key) return {};
    identity.hash.key = *key;
    return identity;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

std::string ShardIdentity::ToJson() const {
  nlohmann::ordered_json json = {
      {"format", format}, {"id", id}, {"shard", shard}, {"shards", shards}};
  if (hash.version != kOldestHashVersion) {
    json["hash"] = hash.version;
    json["hash_key"] = HashKeyToText(hash.key);
  }
  return json.dump();
}

}  // namespace seendb
