// store/inventory.h: which files of RocksDB a shard needs, noted in a small file beside them
// (`FILES`), so that an opening can tell a MANIFEST that lost its end, or a log that is gone, from
// an older state of things. RocksDB can't: it would open the older state and delete what it does
// not name.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "seendb/status.h"

namespace seendb {

/// What `<shard>/FILES` says. It may be older than the shard, never newer.
struct Inventory {
  std::string manifest;                         ///< "MANIFEST-000005"
  uint64_t manifest_bytes = 0;                  ///< of it that were synced
  std::vector<uint64_t> logs;                   ///< numbers of the logs still needed, ascending
  std::map<uint64_t, uint64_t> log_bytes;       ///< sizes of those that are complete, or empty
  std::map<std::string, uint64_t> sums;         ///< XXH3-64 of IDENTITY and OPTIONS-*
  std::map<uint32_t, std::string> families;     ///< names by RocksDB's number, for repair
  std::map<std::string, std::string> policies;  ///< JSON by collection, for repair

  friend bool operator==(const Inventory&, const Inventory&) = default;
  /// As stored.
  std::string ToText() const;
  /// Nothing where the text is damaged.
  static std::optional<Inventory> FromText(const std::string& text);
};

/// The inventory of an open database as of now; files that `before` knows are not read again.
Inventory TakeInventory(rocksdb::DB* db, const Inventory& before);
/// Reads `<shard>/FILES`; nothing where it is absent or damaged.
std::optional<Inventory> ReadInventory(rocksdb::Env* env, const std::string& shard_path);
/// True if the MANIFEST has not grown and was not replaced since `noted` was taken. Then all of
/// `noted.logs` are still needed.
bool IsCurrent(rocksdb::Env* env, const std::string& shard_path, const Inventory& noted);
/// Replaces `<shard>/FILES`, not synced.
Status WriteInventory(rocksdb::Env* env, const std::string& shard_path, const Inventory& inventory);

/// Checks a shard's CURRENT and MANIFEST before RocksDB sees them, against what FILES says.
/// kCorruption names the file.
Status CheckManifest(rocksdb::Env* env, const std::string& shard_path,
                     const std::optional<Inventory>& noted);

/// Numbers of the shard's *.log, ascending.
Result<std::vector<uint64_t>> LogNumbers(rocksdb::Env* env, const std::string& shard_path);
/// "000012.log".
std::string LogName(uint64_t number);

}  // namespace seendb
