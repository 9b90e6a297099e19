// shard/written_users.h: of which users a drain has written rows of history since the cap on their
// entries was last checked, so that the next check looks at nobody else.
//
// Only in memory, and at most some 200,000 users a shard. Where it is not known of all users
// (before the first check of an opening, beyond that number, after a check that failed, where the
// cap has become smaller) the next check looks at everybody. So a crash makes no user be passed
// over.
//
// Threads: any.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "filter/keyed_hash.h"

namespace seendb {

/// See the head of this file.
class WrittenUsers {
 public:
  static constexpr uint64_t kMostBytes = 16 << 20;

  explicit WrittenUsers(uint64_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  /// A row of the user was written, or may have been. After the write: a check that begins before
  /// this returns may miss the row, and the next one does not.
  void Add(std::string_view collection, std::string_view user) {
    const MutexLock lock(mutex_);
    const auto at = collections_.find(collection);
    if (at == collections_.end() || !at->second.known) return;
    if (at->second.users.emplace(user).second) bytes_ += BytesOf(user.size());
    if (bytes_ > most_bytes_) Forget(&at->second);
  }
  /// A check with this cap begins: users added since the last one began; nothing where all are to
  /// be looked at.
  std::optional<std::vector<std::string>> Take(std::string_view collection, uint64_t cap) {
    const MutexLock lock(mutex_);
    Collection& of = collections_[std::string(collection)];
    std::optional<std::vector<std::string>> taken;
    if (of.known && cap >= of.cap) taken.emplace(of.users.begin(), of.users.end());
    Forget(&of);
    of.known = true;
    of.cap = cap;
    return taken;
  }
  /// The check did not get through all that it was to look at.
  void TakeFailed(std::string_view collection) {
    const MutexLock lock(mutex_);
    Forget(&collections_[std::string(collection)]);
  }

 private:
  struct Collection {
    bool known = false;  // whether `users` is all of them
    uint64_t cap = 0;    // of the last check
    std::unordered_set<std::string, KeyedHasher> users;
  };
  // With what the set needs beside the text.
  static uint64_t BytesOf(size_t user) { return user + 64; }
  void Forget(Collection* of) REQUIRES(mutex_) {
    for (const std::string& user : of->users) bytes_ -= BytesOf(user.size());
    std::unordered_set<std::string, KeyedHasher>().swap(of->users);
    of->known = false;
  }

  const uint64_t most_bytes_;
  Mutex mutex_{LockRank::kLeaf};
  uint64_t bytes_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, Collection, std::less<>> collections_ GUARDED_BY(mutex_);
};

}  // namespace seendb
