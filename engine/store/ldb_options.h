// store/ldb_options.h: what RocksDB's own ldb needs to read a shard: our merge operators and
// options by family, and a key formatter. Stock ldb would put in a string-append operator.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/ldb_tool.h>

#include "seendb/status.h"
#include "store/files.h"

namespace seendb {

/// Arguments of rocksdb::LDBTool::Run.
struct LdbSetup {
  rocksdb::Options options;
  rocksdb::LDBOptions ldb_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
};

/// The setup for a shard's folder (see ShardPath) on `env`. Reads the list of families only.
Result<LdbSetup> LdbSetupFor(const std::string& shard_path,
                             rocksdb::Env* env = rocksdb::Env::Default());

}  // namespace seendb
