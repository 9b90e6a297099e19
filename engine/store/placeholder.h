// store/placeholder.h: an Env that stands in for table files that can't be opened. RocksDB opens
// every table of a shard with it, and one that is missing or whose frame is damaged would keep it,
// and all other buckets, from opening. A placeholder opens, and each read of it fails as one of a
// damaged block does: who needs that table is told, nobody else is concerned.
//
// The files themselves are left as they are: put back, or readable again, they serve at the next
// opening.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "seendb/status.h"

namespace seendb {

/// A live table that can't be opened.
struct DamagedTable {
  std::string family;
  std::string path;
  uint64_t bytes = 0;             ///< as the MANIFEST says
  std::string smallest, largest;  ///< user keys
  std::string error;
};

/// Opens each live table of a shard by itself. `families` are those of the shard. Reads the
/// MANIFEST and the logs, writes nothing.
Result<std::vector<DamagedTable>> FindDamagedTables(
    const rocksdb::DBOptions& db_options, const std::string& shard_path,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families);

/// `base` with placeholders for `tables`. `base` must outlive it.
Result<std::unique_ptr<rocksdb::Env>> NewPlaceholderEnv(rocksdb::Env* base,
                                                        const std::vector<DamagedTable>& tables);

}  // namespace seendb
