// recovery/rebuild.h: a shard made anew of whatever can be read of a damaged one.
//
// RocksDB's own RepairDB is not used: it knows no families but those with tables, and puts tables
// of all levels into the first one, where the order of a key's values may be wrong. Here every key
// is read and written again, which needs no order: merges are unions, and what an erasure took away
// is told by the family `users`.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <rocksdb/env.h>

#include "recovery/check.h"
#include "recovery/files.h"
#include "recovery/salvage.h"
#include "seendb/status.h"

namespace seendb {

inline bool IsLog(const FileDamage& damage) { return damage.file.ends_with(".log"); }
inline bool IsTable(const FileDamage& damage) { return damage.file.ends_with(".sst"); }

/// What RebuildShard needs to know.
struct RebuildInput {
  rocksdb::Env* env = nullptr;
  std::string from;        ///< the shard's folder; may be absent
  std::string into;        ///< a folder that is not there yet
  ShardIdentity identity;  ///< of the shard
  ShardFindings findings;  ///< of CheckShard; nothing where the folder is absent
  std::map<std::string, std::string> policies;  ///< JSON by collection, as the others have them
  std::map<std::string, uint64_t> makings;      ///< Making::number of those, as COLLECTIONS says
  bool repaired_before = false;                 ///< there may have been markers of losses
  int64_t now_ms = 0;
};

/// What RebuildShard did.
struct RebuildOutcome {
  uint64_t keys = 0;                            ///< read from tables
  uint64_t records = 0;                         ///< read from logs
  std::map<std::string, SalvagedTable> tables;  ///< the damaged ones, by name
  std::vector<std::string> losses, notes;       ///< for people
};

/// Policies (JSON by collection) that the other shards of a database hold.
std::map<std::string, std::string> PoliciesOfOthers(rocksdb::Env* env, const std::string& root,
                                                    const DatabaseFindings& found, uint32_t shard);

/// What a repair of the shard would find in its damaged tables, and which logs lack something.
RebuildOutcome TryTables(const RebuildInput& input);

/// Makes the shard; synced. kCorruption: not without a policy that nothing tells any more. What is
/// in `from` is only read. On failure `into` may be left half made.
Status RebuildShard(const RebuildInput& input, RebuildOutcome* outcome);

}  // namespace seendb
