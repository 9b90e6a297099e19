// ring/history_staging.h: one slot's watched items in memory: of each collection, user and item
// the join of its reports, so that a player's heartbeats are one state when the slot is drained.
//
// Striped by user like Staging: a stripe is an open-addressing table of its users and one of their
// items, whose entries never move, so that a drain can walk them while readers look up. The words
// of an entry lie in one string, so that a player's reports take no more memory than the first. A
// user with more than a few items who is read by pages has them in the order of time as well, from
// the first page on: so each staged item is put in order once, and not once a page, and who is not
// read costs nothing.
//
// Threads: any, for all members; Entries() and what it points to only once no Add can come.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "format/history_journal.h"
#include "ring/user_stripe.h"

namespace seendb {

/// The order of a page: newest first, of one time by item.
inline bool ComesFirst(int64_t at_ms, std::string_view item, int64_t other_ms,
                       std::string_view other_item) {
  return at_ms != other_ms ? at_ms > other_ms : item < other_item;
}

/// See the head of this file.
class HistoryStaging {
 public:
  struct Entry;
  struct IsNewer {
    bool operator()(const Entry* a, const Entry* b) const;
  };
  /// The entries of a user that are not erased.
  using InOrder = std::set<const Entry*, IsNewer>;

  /// A user in one collection.
  struct User {
    uint64_t hash = 0;
    std::string name;
    uint32_t first = 0;  ///< 1 + index of an item's entry; 0: none
    uint16_t collection = 0;
    uint32_t entries = 0;
    uint64_t changes = 0;                    ///< of any of its states
    std::unique_ptr<InOrder> in_order = {};  ///< null until it is asked for
  };
  /// All that was reported of one item.
  struct Entry {
    uint64_t hash = 0;
    int64_t at_ms = kNoTimeMs;  ///< kNoTimeMs: erased
    const User* user = nullptr;
    std::string item, words;  ///< bytes of PutWords (history_state.h)
    uint32_t next = 0;        ///< of the same user: 1 + index; 0: none
    HistoryState state() const { return StateOf(at_ms, words); }
  };

  /// A state in the order of time.
  struct Row {
    int64_t at_ms;
    std::string item;
  };

  HistoryStaging() = default;
  HistoryStaging(const HistoryStaging&) = delete;
  HistoryStaging& operator=(const HistoryStaging&) = delete;

  /// Joins a report, or what another slot knows of an item.
  void Add(uint16_t collection, const WatchedPlay& play);
  /// Calls `visit(entry)` for each of the user's items, with the stripe locked.
  template <typename Visit>
  void ForUser(uint16_t collection, std::string_view user, const Visit& visit) const;
  /// Calls `visit(index, state)` for those of `items` that the user has, with the stripe locked.
  template <typename Visit>
  void ForItems(uint16_t collection, std::string_view user, std::span<const std::string_view> items,
                const Visit& visit) const;
  /// Appends the user's newest states behind (older than `at_ms`, or of that time and with a later
  /// item than `item`), `most` of them. Cost: by `most`, once the user is in order.
  void Behind(uint16_t collection, std::string_view user, int64_t at_ms, std::string_view item,
              size_t most, std::vector<Row>* rows);
  /// Grows with every change of the user's states.
  uint64_t ChangesOf(uint16_t collection, std::string_view user) const;
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
  static uint64_t HashOfItem(uint64_t user_hash, std::string_view item) {
    return KeyedHash(user_hash, KeyedHash(item));
  }
  using Table = std::vector<uint32_t>;  // 1 + index; 0: free
  struct Stripe {
    mutable Mutex mutex{LockRank::kStripe};
    Table user_table GUARDED_BY(mutex), entry_table GUARDED_BY(mutex);
    std::deque<User> users GUARDED_BY(mutex);
    std::deque<Entry> entries GUARDED_BY(mutex);
    uint64_t text_bytes GUARDED_BY(mutex) = 0;  // of strings, outside the entries
    uint64_t ordered GUARDED_BY(mutex) = 0;     // entries that are in order

    const User* FindUser(uint64_t hash, uint16_t collection, std::string_view user) const
        REQUIRES(mutex);
    User& UserOf(uint64_t hash, uint16_t collection, std::string_view user) REQUIRES(mutex);
    const Entry* FindEntry(uint64_t hash, const User& user, std::string_view item) const
        REQUIRES(mutex);
    void PutInOrder(User* user) REQUIRES(mutex);
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
    if (entry.at_ms != kNoTimeMs) visit(entry);
  }
}

template <typename Visit>
void HistoryStaging::ForItems(uint16_t collection, std::string_view user,
                              std::span<const std::string_view> items, const Visit& visit) const {
  const uint64_t hash = HashOfUser(collection, user);
  const Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  const User* known = stripe.FindUser(hash, collection, user);
  if (known == nullptr) return;
  for (size_t i = 0; i < items.size(); ++i) {
    const Entry* entry = stripe.FindEntry(HashOfItem(hash, items[i]), *known, items[i]);
    if (entry != nullptr && entry->at_ms != kNoTimeMs) visit(i, entry->state());
  }
}

}  // namespace seendb
