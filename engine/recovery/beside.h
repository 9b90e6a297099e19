// recovery/beside.h: the stores beside the shards (items/, sets/): whether their files and rows are
// as they were written, and a store made anew of what can be read. Each is a RocksDB of its own.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>

#include "seendb/repair.h"
#include "seendb/status.h"
#include "store/beside_rows.h"

namespace seendb {

/// The findings of CheckBeside. Files are named without the store's folder.
struct BesideFindings {
  uint64_t files = 0, bytes = 0;
  std::vector<FileDamage> damages;
  bool opens = false;  ///< its MANIFEST can be read, and every table has a frame that opens
};

/// The rows of the store in a folder of this name; see kStoreFolders.
std::unique_ptr<BesideRows> NewBesideRows(std::string_view folder);

/// Whether a name is that of a store's folder.
bool IsStoreFolder(std::string_view name);

/// Reads every file of a store. Writes nothing. A folder in which nothing was written yet is sound.
/// kIOError: the folder can't be listed.
Result<BesideFindings> CheckBeside(rocksdb::Env* env, const std::string& path,
                                   const BesideRows& rows);

/// Calls `visit` for every row that can be read, family by family, changing nothing; `lost` for
/// each range of keys in which some can't be. Rows behind damage in a log count too.
Status ReadBeside(
    rocksdb::Env* env, const std::string& path, const BesideRows& rows,
    const std::function<void(size_t family, std::string_view key, std::string_view value)>& visit,
    const std::function<void(size_t family, const std::string& from, const std::string& to)>& lost);

/// The result of RebuildBeside.
struct BesideOutcome {
  uint64_t rows = 0;               ///< which the new store has
  bool made = false;               ///< false: what says how rows are read is lost
  std::vector<std::string> notes;  ///< for people: what was left out
};

/// Makes in the folder `into`, which is there, a store of all sound rows of the one in `from`,
/// which stays as it is. kIncompatible: newer software wrote it.
Status RebuildBeside(rocksdb::Env* env, const std::string& from, const std::string& into,
                     const BesideFindings& findings, BesideRows* rows, BesideOutcome* outcome);

}  // namespace seendb
