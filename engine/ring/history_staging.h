// ring/history_staging.h: one slot's watched items in memory: of each collection, user and item
// the greatest state, so that a player's heartbeats are one state when the slot is drained.
//
// Striped by user like Staging: a stripe is an open-addressing table of its users and one of their
// items, whose entries never move, so that a drain can walk them while readers look up. A state
// that replaces another takes its memory.
//
// Threads: any, for all members; Entries() and what it points to only once no Add can come.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "format/history_journal.h"
#include "ring/user_stripe.h"

namespace seendb {

/// See the head of this file.
class HistoryStaging {
 public:
  /// A user in one collection.
  struct User {
    uint64_t hash = 0;
    std::string name;
    uint32_t first = 0;  ///< 1 + index of an item's entry; 0: none
    uint16_t collection = 0;
  };
  /// The greatest state of one item.
  struct Entry {
    uint64_t hash = 0;
    int64_t at_ms = kNoTimeMs;  ///< kNoTimeMs: erased
    const User* user = nullptr;
    std::string item, payload;
    uint32_t next = 0;  ///< of the same user: 1 + index; 0: none
    HistoryView state() const { return {at_ms, false, payload}; }
  };

  HistoryStaging() = default;
  HistoryStaging(const HistoryStaging&) = delete;
  HistoryStaging& operator=(const HistoryStaging&) = delete;

  void Add(uint16_t collection, const WatchedPlay& play);
  /// Calls `visit(item, state)` for each of the user's items, with the stripe locked.
  template <typename Visit>
  void ForUser(uint16_t collection, std::string_view user, const Visit& visit) const;
  /// Forgets the user's items in a collection.
  void Erase(uint16_t collection, std::string_view user);
  /// Whether any entry of the collection is not erased. Cost: a look at every entry.
  bool Holds(uint16_t collection) const;
  /// Every entry that is not erased, by collection, user and item.
  std::vector<const Entry*> Entries() const;
  /// Items staged, erased ones included; bytes of memory.
  uint64_t entries() const;
  uint64_t bytes() const;

 private:
  using Table = std::vector<uint32_t>;  // 1 + index; 0: free
  struct Stripe {
    mutable Mutex mutex{LockRank::kStripe};
    Table user_table GUARDED_BY(mutex), entry_table GUARDED_BY(mutex);
    std::deque<User> users GUARDED_BY(mutex);
    std::deque<Entry> entries GUARDED_BY(mutex);
    uint64_t text_bytes GUARDED_BY(mutex) = 0;  // of strings, outside the entries

    const User* FindUser(uint64_t hash, uint16_t collection, std::string_view user) const
        REQUIRES(mutex);
    User& UserOf(uint64_t hash, uint16_t collection, std::string_view user) REQUIRES(mutex);
    Entry& EntryOf(uint64_t hash, User& user, std::string_view item) REQUIRES(mutex);
  };
  std::array<Stripe, kUserStripes> stripes_;
};

template <typename Visit>
void HistoryStaging::ForUser(uint16_t collection, std::string_view user, const Visit& visit) const {
  const uint64_t hash = HashOfUser(collection, user);
  const Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  const User* known = stripe.FindUser(hash, collection, user);
  if (known == nullptr) return;
  for (uint32_t at = known->first; at != 0; at = stripe.entries[at - 1].next) {
    const Entry& entry = stripe.entries[at - 1];
    if (entry.at_ms != kNoTimeMs) visit(std::string_view(entry.item), entry.state());
  }
}

}  // namespace seendb
