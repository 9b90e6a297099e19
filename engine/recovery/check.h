// recovery/check.h: which files of a shard are not as they were written. Reads, writes nothing.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "seendb/repair.h"
#include "seendb/status.h"
#include "store/shard_identity.h"
#include "store/shard_logs.h"

namespace seendb {

/// FileDamage::detail of a log that RocksDB can't be given (LogRepeats): the shard was not opened.
inline constexpr char kRecordsAgain[] = "records are there again";

/// What CheckShard found. Files are named without the shard's folder.
struct ShardFindings {
  uint64_t files = 0, bytes = 0;
  std::vector<FileDamage> damages;
  std::string manifest;                           ///< the one to go by; empty: none can be
  bool opens = false;                             ///< with that MANIFEST, tables apart
  std::vector<rocksdb::LiveFileMetaData> tables;  ///< where it opens
  std::vector<LogState> logs;                     ///< those that read, by number
  std::optional<ShardIdentity> identity;          ///< where it could be read
};

/// Whether a damage is that one.
bool HasRecordsAgain(const ShardFindings& findings);

/// Reads every file of the shard in `path`. kIOError: the folder can't be listed.
Result<ShardFindings> CheckShard(rocksdb::Env* env, const std::string& path);

/// What is wrong with a table of `bytes` (0: not known); nothing where it is sound. Reads it all.
std::optional<FileDamage> CheckTable(rocksdb::Env* env, const std::string& path, uint64_t bytes);
/// The damage of the tables among the files `names` of a folder, whose sizes are not known, in the
/// order of the names. Reads each table whole.
std::vector<FileDamage> CheckTablesAmong(rocksdb::Env* env, const std::string& folder,
                                         const std::vector<std::string>& names);

}  // namespace seendb
