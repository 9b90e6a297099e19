// backup/backup_list.h: the list of one backup: what a database's files are called in the folder of
// backups. server/doc/backup.md has the layout.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/status.h"

namespace seendb::backup {

/// One file of a database.
struct BackedFile {
  std::string path;  ///< below the database's folder: "shard-0003/000012.sst"
  uint64_t size = 0;
  std::string sha256;  ///< in lower-case digits: its name in the folder of backups
};

/// One backup.
struct BackupList {
  uint64_t id = 0;
  std::string database;     ///< its id
  uint32_t partitions = 0;  ///< shards of the database, whether they are in the backup or not
  int64_t began_ms = 0, ended_ms = 0;  ///< since 1970
  uint64_t new_bytes = 0;              ///< that no earlier backup had
  std::vector<BackedFile> files;

  /// The size of all files together.
  uint64_t Bytes() const;
  /// The numbers of the shards that it has.
  std::set<uint32_t> Shards() const;
  /// The names of the stores beside the shards that it has: "items", "sets".
  std::set<std::string> Stores() const;
};

/// The most bytes that a list may have.
inline constexpr size_t kListBytesMost = 256u << 20;

std::string ListToText(const BackupList& list);
/// kCorruption: it is not as it was written, or no list; kIncompatible: of a newer version.
Result<BackupList> ListFromText(std::string_view text);

/// Whether a database's file may have this path: of the files that a backup has, and of no other.
bool IsBackedPath(std::string_view path);

}  // namespace seendb::backup
