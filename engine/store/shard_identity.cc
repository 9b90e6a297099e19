#include "store/shard_identity.h"

#include <nlohmann/json.hpp>

namespace seendb {

std::optional<ShardIdentity> ShardIdentity::FromJson(std::string_view json) {
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, false);
  try {
    return ShardIdentity{parsed.at("format").get<int64_t>(), parsed.at("id").get<std::string>(),
                         parsed.at("shard").get<uint32_t>(), parsed.at("shards").get<uint32_t>()};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

std::string ShardIdentity::ToJson() const {
  return nlohmann::ordered_json{
      {"format", format}, {"id", id}, {"shard", shard}, {"shards", shards}}
      .dump();
}

}  // namespace seendb
