// store/files.h: the small files beside RocksDB's: the database's identity in its root folder, and
// in each shard the log position known to be synced.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rocksdb/env.h>

#include "filter/item_hash.h"
#include "seendb/status.h"

namespace seendb {

/// The stores beside the shards: each a RocksDB in a folder of this name below the root.
inline constexpr std::string_view kStoreFolders[] = {"items", "sets"};

/// The version of the format that this code writes and the newest it reads. Version 1 had another
/// operator of history.
inline constexpr int kFormatVersion = 2;

/// In a shard's folder while it is being repaired: it is not opened until that has ended.
inline constexpr char kRepairName[] = "REPAIR";

/// In the root folder: whoever moves shards between databases keeps copies of them there. The
/// engine never looks into it.
inline constexpr char kTransitName[] = "tmp";

/// What is fixed when a database is made (file SEENDB, JSON).
struct Identity {
  int format = kFormatVersion;
  std::string id;  ///< random, the same in every shard
  uint32_t shards = 0;
  ItemHashId hash;      ///< version 2 with its key
  bool ready = false;   ///< every shard has been made once
  bool history = true;  ///< names history's operator too, as versions that know it do

  /// Whether an older version wrote it. Whoever writes to the database writes Renewed() first: the
  /// older version would misread what follows.
  bool older() const { return format < kFormatVersion; }
  Identity Renewed() const;
  /// As stored in the root folder; a shard's own copy names its number too.
  std::string ToJson() const;
  /// kCorruption where it can't be read; kIncompatible, naming every difference, where it was made
  /// by other operators, another hash or a newer format.
  static Result<Identity> FromJson(const std::string& json);
};

/// Who may read a file: whom the process's umask leaves it to, or its owner alone.
enum class FileReaders { kByUmask, kOwner };

/// Writes `bytes` under another name and renames that to `path`; with `sync`, both synced.
Status ReplaceFile(rocksdb::Env* env, const std::string& path, const std::string& bytes, bool sync,
                   FileReaders readers = FileReaders::kByUmask);

/// `<root>/shard-0003`.
std::string ShardPath(const std::string& root, uint32_t shard);

/// Reads `<root>/SEENDB`; nothing where there is no database.
Result<std::optional<Identity>> ReadIdentity(rocksdb::Env* env, const std::string& root);
/// Replaces `<root>/SEENDB` atomically, synced.
Status WriteIdentity(rocksdb::Env* env, const std::string& root, const Identity& identity);

/// Syncs the logs that a killed process may have left in the system's cache alone. RocksDB reads
/// them again but syncs only those it writes itself: a power loss would take the end of an old log,
/// and with it what newer, synced ones go on from.
Status SyncLogs(rocksdb::Env* env, const std::string& shard_path);

/// The RocksDB sequence up to which `<shard>/SYNCED` says the log was synced; nothing where the
/// file is absent or torn (power loss may take its last version).
std::optional<uint64_t> ReadSyncedSequence(rocksdb::Env* env, const std::string& shard_path);
/// Replaces `<shard>/SYNCED`; with `sync` so that it survives power loss itself.
Status WriteSyncedSequence(rocksdb::Env* env, const std::string& shard_path, uint64_t sequence,
                           bool sync = false);

}  // namespace seendb
