// recovery/files.h: the files of a whole database: its identity and its shards, checked.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recovery/beside.h"
#include "recovery/check.h"
#include "store/files.h"

namespace seendb {

/// What was found of a database's files.
struct DatabaseFindings {
  uint64_t files = 0, bytes = 0;
  std::optional<Identity> identity;              ///< as it is or as it must have been
  std::optional<FileDamage> identity_damage;     ///< of SEENDB
  std::optional<FileDamage> collections_damage;  ///< of COLLECTIONS
  std::map<uint32_t, ShardFindings> shards;      ///< those with a folder
  std::map<std::string, BesideFindings> stores;  ///< beside the shards, by their folders
  std::vector<FileDamage> damages;               ///< all, by their paths below the root
};

/// Reads everything below `root`. `as_found`: shards without a folder are not missing. kNotFound:
/// no database. kIncompatible: of a newer version.
Result<DatabaseFindings> CheckDatabase(rocksdb::Env* env, const std::string& root, bool as_found);

/// "shard-0003", or with a file "shard-0003/CURRENT".
std::string ShardFile(uint32_t shard, const std::string& file = {});

/// Where a repair makes a shard anew: "shard-0003.repair", below the root.
std::string RebuiltName(uint32_t shard);
inline constexpr std::string_view kRebuiltSuffix = ".repair";
/// Whether a name is that of a shard or a store that is being made anew.
bool IsRebuilt(const std::string& name);

}  // namespace seendb
