// store/problem_list.h: what is wrong with a shard, for people, RocksDB's background errors
// included. Threads: any.

#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rocksdb/listener.h>

namespace seendb {

/// At most kProblemsKept different texts; those of RocksDB go when it has recovered.
class ProblemList final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    Add("RocksDB: " + status->ToString());
  }
  void OnErrorRecoveryCompleted(rocksdb::Status) override { Clear("RocksDB: "); }
  /// Forgets the problems that begin with `prefix`.
  void Clear(std::string_view prefix) {
    const std::lock_guard lock(mutex_);
    std::erase_if(problems_, [&](const std::string& p) { return p.starts_with(prefix); });
  }
  /// Notes a problem, once.
  void Add(std::string text) {
    const std::lock_guard lock(mutex_);
    if (problems_.size() < kProblemsKept &&
        std::find(problems_.begin(), problems_.end(), text) == problems_.end()) {
      problems_.push_back(std::move(text));
    }
  }
  std::vector<std::string> problems() const {
    const std::lock_guard lock(mutex_);
    return problems_;
  }

 private:
  static constexpr size_t kProblemsKept = 20;

  mutable std::mutex mutex_;
  std::vector<std::string> problems_;
};

}  // namespace seendb
