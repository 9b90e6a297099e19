// backup/source.h: the database that a backup is made of.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backup/backup_list.h"
#include "seendb/status.h"

namespace seendb::backup {

/// Which database it is.
struct Origin {
  std::string database;                  ///< its id
  uint32_t partitions = 0;               ///< shards of the database
  std::vector<uint32_t> shards;          ///< those that are here
  std::vector<std::string> stores = {};  ///< beside the shards: "items", "sets"
};

/// One part at a time is copied, a shard or a store: Take, then Read of its files, then Drop. Every
/// call may block for long. kUnavailable and kBusy may pass. Threads: one.
class Source {
 public:
  virtual ~Source() = default;

  virtual Result<Origin> Describe() = 0;
  /// The files beside the shards, by their paths, as they are now.
  virtual Result<std::map<std::string, std::string>> RootFiles() = 0;
  /// Copies a part as it is now: its files, which stay until Drop. `folder`: where it lies in the
  /// database. Called again without Drop, it may give the same copy.
  virtual Result<std::vector<BackedFile>> Take(const std::string& folder) = 0;
  /// `bytes` of a file of the copy from `offset` on: all of them. kUnavailable: the copy is gone.
  virtual Status Read(const BackedFile& file, uint64_t offset, uint64_t bytes, std::string* to) = 0;
  /// Ends the copy, if there is one.
  virtual void Drop() = 0;
};

}  // namespace seendb::backup
