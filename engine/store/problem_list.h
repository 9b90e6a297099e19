// store/problem_list.h: what is wrong with a shard, for people, RocksDB's background errors
// included. RocksDB doesn't recover by itself from what stops its writes: it would go on behind a
// log whose end is torn. The shard is closed and opened anew instead (ShardStore::Reopen).
// Threads: any.

#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rocksdb/listener.h>

#include "base/sync.h"

namespace seendb {

/// At most kProblemsKept different texts; those of RocksDB go when it works again.
class ProblemList final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override {
    if (reason == rocksdb::BackgroundErrorReason::kCompaction && status->IsCorruption()) {
      // A file it was to read is damaged. It has changed nothing, and only what reads the file
      // suffers; RocksDB would refuse all further writes of the shard. Any other failure may be of
      // writing, and stays.
      Add("a file can't be compacted: " + status->ToString());
      *status = rocksdb::Status::OK();
      return;
    }
    Add("RocksDB: " + status->ToString());
    if (status->severity() >= rocksdb::Status::Severity::kHardError) Stop(status->ToString());
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status error,
                            bool* recover) override {
    if (error.severity() >= rocksdb::Status::Severity::kHardError) *recover = false;
  }
  void OnErrorRecoveryCompleted(rocksdb::Status error) override {
    error.PermitUncheckedError();
    if (!stopped()) Begin();
  }
  /// RocksDB takes no writes until it is opened anew.
  void Stop(std::string why) {
    const MutexLock lock(mutex_);
    if (why_stopped_.empty()) why_stopped_ = std::move(why);
    stopped_ = true;
  }
  bool stopped() const { return stopped_; }
  std::string why_stopped() const {
    const MutexLock lock(mutex_);
    return why_stopped_;
  }
  /// RocksDB works again.
  void Begin() {
    {
      const MutexLock lock(mutex_);
      why_stopped_.clear();
    }
    stopped_ = false;
    Clear("RocksDB: ");
  }
  /// Forgets the problems that begin with `prefix`.
  void Clear(std::string_view prefix) {
    const MutexLock lock(mutex_);
    std::erase_if(problems_, [&](const std::string& p) { return p.starts_with(prefix); });
  }
  /// A problem that begins with `prefix`, instead of all others that do.
  void Renew(std::string_view prefix, std::string text) {
    const MutexLock lock(mutex_);
    std::erase_if(problems_, [&](const std::string& p) { return p.starts_with(prefix); });
    if (problems_.size() < kProblemsKept) problems_.push_back(std::move(text));
  }
  /// Notes a problem, once.
  void Add(std::string text) {
    const MutexLock lock(mutex_);
    if (problems_.size() < kProblemsKept &&
        std::find(problems_.begin(), problems_.end(), text) == problems_.end()) {
      problems_.push_back(std::move(text));
    }
  }
  std::vector<std::string> problems() const {
    const MutexLock lock(mutex_);
    return problems_;
  }

 private:
  static constexpr size_t kProblemsKept = 20;

  std::atomic<bool> stopped_{false};
  mutable Mutex mutex_{LockRank::kLeaf};
  std::vector<std::string> problems_ GUARDED_BY(mutex_);
  std::string why_stopped_ GUARDED_BY(mutex_);
};

}  // namespace seendb
