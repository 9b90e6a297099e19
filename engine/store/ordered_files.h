// store/ordered_files.h: an Env under which what a power loss leaves of a shard is a beginning of
// what was written, in the order in which it was written.
//
// - RocksDB makes a MANIFEST, syncs it, makes CURRENT name it by a rename, and syncs the folder
//   once, after both. POSIX promises no order between two entries of a folder before that sync: the
//   rename may be on disk and the MANIFEST's name not. Here the folder is synced before that
//   rename.
// - RocksDB begins a new log before the one before is synced. A power loss may take the end of the
//   older one, or all of it, and leave the newer one. Here the older one is synced first. So a sync
//   of the newest log makes everything written before durable.
// - RocksDB's text log (LOG) breaks an assertion of RocksDB at the first line after one that could
//   not be written, for example because the disk is full. Here lines that can't be written are
//   lost.

#pragma once

#include <map>
#include <memory>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/io_status.h>

#include "base/sync.h"

namespace seendb {

class OpenLog;

/// The newest log of every folder, while it is open.
/// Threads: any. A sync in one folder waits for none in another.
class OpenLogs {
 public:
  /// Makes what was appended to the newest log in `folder` before the call, and the log's name,
  /// survive power loss. After a sync that failed, every later one of that log fails too: the
  /// system reports a failure once and forgets what it could not write. NotFound: no log is open.
  rocksdb::IOStatus SyncNewest(const std::string& folder);
  /// For the Env: a log was made, or is closed.
  void Opened(const std::string& folder, std::shared_ptr<OpenLog> log);
  void Closed(const std::string& folder, const OpenLog* log);

 private:
  Mutex mutex_{LockRank::kOpenLogs};
  std::map<std::string, std::shared_ptr<OpenLog>> newest_ GUARDED_BY(mutex_);
};

/// `base` with the order above; its logs are in `logs`. `base` must outlive it.
std::unique_ptr<rocksdb::Env> NewOrderedEnv(
    rocksdb::Env* base, std::shared_ptr<OpenLogs> logs = std::make_shared<OpenLogs>());

}  // namespace seendb
