// server/http/peer_counts.h: how many connections each client address has.

#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/sync.h"

namespace seendb::http {

/// Counts up to a limit. Threads: any.
class PeerCounts {
 public:
  /// 0: no limit, and nothing is counted.
  explicit PeerCounts(size_t limit) : limit_(limit) {}

  /// False where the address has as many as it may. A peer without an address has no limit.
  bool Enter(const std::string& address) {
    if (limit_ == 0 || address.empty()) return true;
    const MutexLock lock(mutex_);
    size_t& count = counts_[address];
    if (count >= limit_) return false;
    ++count;
    return true;
  }
  /// For each Enter that was true.
  void Leave(const std::string& address) {
    if (limit_ == 0 || address.empty()) return;
    const MutexLock lock(mutex_);
    const auto at = counts_.find(address);
    if (--at->second == 0) counts_.erase(at);
  }

 private:
  const size_t limit_;
  Mutex mutex_{LockRank::kLeaf};
  std::unordered_map<std::string, size_t> counts_ GUARDED_BY(mutex_);
};

}  // namespace seendb::http
