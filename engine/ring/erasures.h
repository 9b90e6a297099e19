// ring/erasures.h: which users were erased, and when: asked before every play is accepted.
//
// The truth is the family `users`; this is its picture in memory (about 100 bytes an erased
// user), filled on open. Threads: any.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "format/user_codec.h"

namespace seendb {

/// See the head of this file.
class Erasures {
 public:
  void Put(std::string_view user, const UserRecord& record) {
    const std::unique_lock lock(mutex_);
    records_[std::string(user)].Absorb(record);
    any_.store(true, std::memory_order_release);
  }
  /// The user's erasure; all zero where there was none.
  UserRecord Find(std::string_view user) const {
    if (!any_.load(std::memory_order_acquire)) return {};
    const std::shared_lock lock(mutex_);
    const auto at = records_.find(user);
    return at == records_.end() ? UserRecord{} : at->second;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return HashBytes(text); }
  };
  mutable std::shared_mutex mutex_;
  std::atomic<bool> any_{false};
  std::unordered_map<std::string, UserRecord, Hash, std::equal_to<>> records_;
};

}  // namespace seendb
