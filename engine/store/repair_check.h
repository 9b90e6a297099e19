// store/repair_check.h: which files of a shard are not as they were written. Reads, writes nothing.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "seendb/repair.h"
#include "seendb/status.h"
#include "store/inventory.h"
#include "store/ldb_options.h"

namespace seendb {

/// What a shard's own record says (family `default`, key `identity`).
struct ShardIdentity {
  int64_t format = 0;
  std::string id;
  uint32_t shard = 0, shards = 0;

  static std::optional<ShardIdentity> FromJson(std::string_view json);
  std::string ToJson() const;
};

/// A shard's log on disk.
struct LogState {
  uint64_t number = 0;
  uint64_t bytes = 0;
  uint64_t sound_bytes = 0;    ///< before the first damage
  uint64_t damaged_bytes = 0;  ///< in front of a sound record
  uint64_t records = 0;
  uint64_t first_sequence = 0, last_sequence = 0;  ///< RocksDB's; 0: no record
  uint64_t resumed_sequence = 0;                   ///< of the first record behind damage; 0: none
};

/// What CheckShard found. Files are named without the shard's folder.
struct ShardFindings {
  uint64_t files = 0, bytes = 0;
  std::vector<FileDamage> damages;
  std::string manifest;                           ///< the one to go by; empty: none can be
  bool opens = false;                             ///< with that MANIFEST, tables apart
  std::vector<rocksdb::LiveFileMetaData> tables;  ///< where it opens
  std::vector<LogState> logs;                     ///< by number
  std::optional<ShardIdentity> identity;          ///< where it could be read
};

/// Reads every file of the shard in `path`. kIOError: the folder can't be listed.
Result<ShardFindings> CheckShard(rocksdb::Env* env, const std::string& path);

/// A shard's log as it reads. kIOError: it does not.
Result<LogState> CheckLog(rocksdb::Env* env, const std::string& shard_path, uint64_t number);

/// Whether what can't be read of `log` was synced: a record that was is behind it, there or in one
/// of `newer`. RocksDB may pass over such bytes without a word. `synced` is the sequence up to
/// which all was.
bool LacksSynced(const LogState& log, std::span<const LogState> newer, uint64_t synced);

/// The names of those of the shard's live logs that lack something synced, with what is wrong with
/// them, as text; empty: none, or it is not known which logs are live.
std::string LogsThatLackSynced(rocksdb::Env* env, const std::string& shard_path);

/// What is wrong with a table of `bytes` (0: not known); nothing where it is sound. Reads it all.
std::optional<FileDamage> CheckTable(rocksdb::Env* env, const std::string& path, uint64_t bytes);

}  // namespace seendb
