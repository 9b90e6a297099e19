#include "store/database_options.h"

#include <algorithm>

#include <rocksdb/file_checksum.h>

#include "store/status.h"

namespace seendb {
namespace {

constexpr uint64_t kMiB = 1 << 20;

}  // namespace

rocksdb::DBOptions DatabaseOptions(const SharedResources& shared) {
  rocksdb::DBOptions options;
  options.env = shared.env;
  options.write_buffer_manager = shared.write_buffers;
  options.statistics = shared.statistics;
  options.max_total_wal_size = std::max<uint64_t>(2 * shared.write_buffer_bytes, 64 * kMiB);
  options.max_background_jobs = std::max(shared.background_threads, 2);
  options.max_subcompactions = static_cast<uint32_t>(std::max(shared.background_threads, 1));
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.avoid_flush_during_recovery = true;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  // Or a family that was made, or dropped, would be reported as if it had not been.
  options.fail_if_options_file_error = false;
  options.max_bgerror_resume_count = 0;  // see problem_list.h
  options.keep_log_file_num = 4;
  options.max_log_file_size = 16 * kMiB;
  options.bytes_per_sync = kMiB;
  options.compaction_readahead_size = 2 * kMiB;
  options.max_file_opening_threads = 4;
  // Reads of memory alone rely on open tables: of one that is not open RocksDB 7.8 says that it is
  // found and empty.
  options.max_open_files = -1;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();  // for verify
  return options;
}

Result<LdbSetup> LdbSetupFor(const std::string& shard_path, rocksdb::Env* env) {
  SharedResources shared;
  shared.env = env;
  const rocksdb::DBOptions options = DatabaseOptions(shared);
  std::vector<std::string> families;
  const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(options, shard_path, &families);
  if (!listed.ok()) return FromRocks(listed, "list the families of " + shard_path);
  return MakeLdbSetup(options, families);
}

}  // namespace seendb
