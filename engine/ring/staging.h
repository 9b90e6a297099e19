// ring/staging.h: one slot's plays in memory, by collection, user and bucket.
//
// Striped by user: a stripe is an open-addressing table of entries whose fingerprints lie in the
// stripe's arena. Entries never move, so that a drain can walk them while readers look up.
//
// Threads: any, for all members; Entries() and what it points to only once no Add can come.
// Cost: Add ~100 ns cold, AddAll ~40 ns a play of a large batch; an entry 64 bytes and its user's
// name; 8 bytes a play.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "filter/hash.h"
#include "ring/user_stripe.h"

namespace seendb {

/// Collected items of one bucket: those before `end`, from the end of the run before.
struct BucketRun {
  int64_t bucket = 0;
  size_t end = 0;
};

/// The oldest and the newest of some buckets.
struct BucketSpan {
  int64_t oldest = INT64_MAX, newest = INT64_MIN;  ///< of no bucket
  std::vector<BucketRun>* runs = nullptr;  ///< where set: gets the runs of what is collected

  void Meet(int64_t bucket) {
    oldest = std::min(oldest, bucket);
    newest = std::max(newest, bucket);
  }
};

/// One play to stage. `user` is the canonical text.
struct StagedPlay {
  std::string_view user;
  int64_t bucket = 0;
  Fingerprint item = 0;
};

/// See the head of this file.
class Staging {
 public:
  /// The plays of one user in one collection and bucket.
  struct Entry {
    uint64_t hash = 0;
    const char* user_bytes = nullptr;
    Fingerprint* items = nullptr;  ///< unsorted, repeats possible
    int64_t bucket = 0;
    uint32_t count = 0;
    uint32_t capacity = 0;
    uint32_t next = 0;  ///< 1 + index of the same user's entry of another bucket; 0: none
    uint16_t collection = 0;
    uint8_t user_size = 0;
    std::string_view user() const { return {user_bytes, user_size}; }
  };

  Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  void Add(uint16_t collection, const StagedPlay& play);
  /// Adds all. A large batch takes each stripe's lock once, and has the memory that it will touch
  /// fetched ahead: most of the time of Add is spent waiting for it.
  void AddAll(uint16_t collection, std::span<const StagedPlay> plays);
  /// Appends the user's items of buckets from `oldest_bucket` on, and widens `*buckets` by theirs.
  void Collect(uint16_t collection, std::string_view user, int64_t oldest_bucket,
               std::vector<Fingerprint>* items, BucketSpan* buckets) const;
  /// Calls `visit(bucket, count)` for each of the user's entries.
  template <typename Visit>
  void ForUser(uint16_t collection, std::string_view user, const Visit& visit) const;
  /// The newest bucket of the collection that anybody has plays in. Cost: a look at every entry.
  std::optional<int64_t> NewestBucket(uint16_t collection) const;
  /// Forgets the user's plays in a collection.
  void Erase(uint16_t collection, std::string_view user);
  /// Every entry, in the order a drain writes: collection, bucket, user.
  std::vector<const Entry*> Entries() const;

  /// Plays staged, repeats included; entries; bytes of memory.
  uint64_t plays() const;
  uint64_t entries() const;
  uint64_t bytes() const;
  /// Whether an entry had room for more than kEntryItemsMost items. Each read of its user goes over
  /// them, unsorted: they belong into a filter.
  bool crowded() const { return crowded_.load(std::memory_order_relaxed); }

  static constexpr uint32_t kEntryItemsMost = 1u << 16;

 private:
  /// A place of a table. An entry whose low bits of the hash differ is not looked at: that would
  /// be a cache miss.
  struct Place {
    uint32_t hash = 0;
    uint32_t index = 0;  // 1 + that of the entry; 0: free
  };
  struct Stripe {
    mutable Mutex mutex{LockRank::kStripe};
    std::vector<Place> table GUARDED_BY(mutex);
    std::deque<Entry> entries GUARDED_BY(mutex);
    size_t heads GUARDED_BY(mutex) = 0;  // entries in the table (the others hang on `next`)
    std::vector<std::unique_ptr<char[]>> blocks GUARDED_BY(mutex);
    char* free GUARDED_BY(mutex) = nullptr;
    size_t free_bytes GUARDED_BY(mutex) = 0;
    uint64_t arena_bytes GUARDED_BY(mutex) = 0;
    uint64_t plays GUARDED_BY(mutex) = 0;
    uint32_t largest GUARDED_BY(mutex) = 0;  // capacity of an entry
    // By log2 of capacity, linked through the first word.
    std::array<Fingerprint*, 32> reusable GUARDED_BY(mutex){};

    char* Allocate(size_t bytes, size_t alignment) REQUIRES(mutex);
    Fingerprint* AllocateItems(uint32_t capacity) REQUIRES(mutex);
    void Recycle(Fingerprint* items, uint32_t capacity) REQUIRES(mutex);
    Entry* Find(uint64_t hash, uint16_t collection, std::string_view user) REQUIRES(mutex);
    const Entry* Find(uint64_t hash, uint16_t collection, std::string_view user) const
        REQUIRES(mutex);
    Entry* Insert(uint64_t hash, uint16_t collection, const StagedPlay& play) REQUIRES(mutex);
    void Rehash() REQUIRES(mutex);
    void Grow(Entry* entry) REQUIRES(mutex);
    void Add(uint64_t hash, uint16_t collection, const StagedPlay& play) REQUIRES(mutex);
    /// The entry at the first place of this hash, if it is likely to be the one; else null.
    const Entry* Guess(uint64_t hash) const REQUIRES(mutex);
  };
  void AddGrouped(uint16_t collection, std::span<const StagedPlay> plays);

  void NoteCrowd(const Stripe& stripe) REQUIRES(stripe.mutex) {
    if (stripe.largest > kEntryItemsMost) crowded_.store(true, std::memory_order_relaxed);
  }

  std::array<Stripe, kUserStripes> stripes_;
  std::atomic<bool> crowded_{false};
};

template <typename Visit>
void Staging::ForUser(uint16_t collection, std::string_view user, const Visit& visit) const {
  const uint64_t hash = HashOfUser(collection, user);
  const Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  const Entry* entry = stripe.Find(hash, collection, user);
  while (entry != nullptr) {
    if (entry->count > 0) visit(entry->bucket, entry->count);
    entry = entry->next == 0 ? nullptr : &stripe.entries[entry->next - 1];
  }
}

}  // namespace seendb
