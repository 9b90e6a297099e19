// tables/ldb.h: what RocksDB's own ldb needs to read a shard: our merge operators and
// options by family, and a key formatter. Stock ldb would put in a string-append operator.

#pragma once

#include <string>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/ldb_tool.h>

namespace seendb {

/// Arguments of rocksdb::LDBTool::Run.
struct LdbSetup {
  rocksdb::Options options;
  rocksdb::LDBOptions ldb_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
};

/// The setup for a database with these families.
LdbSetup MakeLdbSetup(const rocksdb::DBOptions& options, const std::vector<std::string>& families);

}  // namespace seendb
