// store/log_sync.h: makes a shard's log survive power loss, for many callers at once.
//
// The newest log is synced through the handle that the Env keeps of it (ordered_files.h), never by
// DB::SyncWAL: RocksDB breaks an assertion of its own where it syncs a log whose last append has
// just failed. Older logs were synced before newer ones were made, so this does what SyncWAL does.
// RocksDB does not notice a sync that fails here. The caller stops the shard's writes.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/sync.h"
#include "store/ordered_files.h"

namespace seendb {

/// See the head of this file. One for each opening of a shard.
/// Threads: any.
/// Cost: a group commit. One caller syncs for all that wait; at most two syncs per wait.
class LogSync {
 public:
  /// `written()`: RocksDB's sequence up to which everything is in the log by now.
  LogSync(std::string folder, std::shared_ptr<OpenLogs> logs, std::function<uint64_t()> written)
      : folder_(std::move(folder)), logs_(std::move(logs)), written_(std::move(written)) {}

  /// Returns when everything up to RocksDB's `sequence` survives power loss. Precondition: it was
  /// written. After a failure every call fails: what the log lost is unknown.
  rocksdb::IOStatus SyncTo(uint64_t sequence);

 private:
  const std::string folder_;
  const std::shared_ptr<OpenLogs> logs_;
  const std::function<uint64_t()> written_;
  Mutex mutex_{LockRank::kLogSync};
  CondVar synced_;
  bool syncing_ GUARDED_BY(mutex_) = false;
  uint64_t synced_to_ GUARDED_BY(mutex_) = 0;
  rocksdb::IOStatus failed_ GUARDED_BY(mutex_);
};

}  // namespace seendb
