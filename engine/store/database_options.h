// store/database_options.h: what all shards of a process share, and the options of their databases.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_buffer_manager.h>

#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>  // where newer versions of RocksDB define what cache.h declares
#endif

#include "base/counters.h"
#include "seendb/status.h"
#include "store/ordered_files.h"
#include "tables/ldb.h"

namespace seendb {

/// What all shards of a process share.
struct SharedResources {
  rocksdb::Env* env = nullptr;     ///< one of NewOrderedEnv, where shards are written
  std::shared_ptr<OpenLogs> logs;  ///< of `env`; null where nothing is written
  std::shared_ptr<rocksdb::Cache> block_cache;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  std::shared_ptr<rocksdb::Statistics> statistics;
  std::shared_ptr<Counters> counters;
  uint64_t write_buffer_bytes = 0;  ///< budget of write_buffers
  int background_threads = 2;
  uint32_t ring_slots = 6;
  uint32_t list_limit = 4096;
  uint32_t max_column_families = 400;
};

/// Options of a shard's database.
rocksdb::DBOptions DatabaseOptions(const SharedResources& shared);
/// What RocksDB's own tools need for the shard in a folder (see ShardPath) on `env`. Reads the list
/// of families only.
Result<LdbSetup> LdbSetupFor(const std::string& shard_path,
                             rocksdb::Env* env = rocksdb::Env::Default());

}  // namespace seendb
