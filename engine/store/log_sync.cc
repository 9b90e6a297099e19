#include "store/log_sync.h"

#include <algorithm>

namespace seendb {

rocksdb::IOStatus LogSync::SyncTo(uint64_t sequence) {
  AssertMayBlock();
  const MutexLock lock(mutex_);
  while (failed_.ok() && synced_to_ < sequence) {
    if (syncing_) {
      synced_.Wait(mutex_);
      continue;
    }
    syncing_ = true;
    const uint64_t written = written_();
    mutex_.Unlock();
    const rocksdb::IOStatus status = logs_->SyncNewest(folder_);
    mutex_.Lock();
    syncing_ = false;
    failed_ = status;
    // Not `written` alone: the caller's own sequence was written, whatever RocksDB says by now.
    if (status.ok()) synced_to_ = std::max({synced_to_, written, sequence});
    synced_.NotifyAll();
  }
  return failed_;
}

}  // namespace seendb
