// store/shard_identity.h: which shard of which database a folder holds, by the shard's own record.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "filter/item_hash.h"

namespace seendb {

/// The value of the key `identity` of the family `default`.
struct ShardIdentity {
  int64_t format = 0;
  std::string id;  ///< of the database
  uint32_t shard = 0, shards = 0;
  ItemHashId hash = {};  ///< of the database

  /// Nothing where the text is damaged.
  static std::optional<ShardIdentity> FromJson(std::string_view json);
  std::string ToJson() const;
};

}  // namespace seendb
