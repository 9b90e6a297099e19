// shard/user_cache.h: user records that were read lately, within a budget of bytes. A user of whom
// it is known that there is no record takes room as well.
//
// It is not asked to be complete: a record that is not here is read from the family `users`. What
// is here is never older than the newest change that has ended, by these rules:
//   - A change is written first, and then joined to the record that is here (Join). No record is
//     made here from a change alone: the rest of it may be on disk.
//   - Every change raises the version of the user's stripe, whether a record is here or not. Who
//     reads a record notes the version before, and what was read is dropped where it has moved
//     (Insert): it may have been read before the change.
//
// 64 stripes with a lock each. Which record leaves: CLOCK, a record that was asked for since the
// last look stays once.
//
// Threads: any.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/sync.h"
#include "format/user_codec.h"

namespace seendb {

/// A record as of some time; null where the user has none.
using UserRecordPtr = std::shared_ptr<const UserRecord>;

/// See the head of this file. `hash`: the user's KeyedHash.
class UserCache {
 public:
  explicit UserCache(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  struct Found {
    bool known = false;
    UserRecordPtr record;
  };
  Found Find(std::string_view user, uint64_t hash);

  /// Of the user's stripe: grows with each change of a user of it.
  uint64_t Version(uint64_t hash) const {
    return StripeOf(hash).version.load(std::memory_order_acquire);
  }
  /// Changes of all users. What was read after it was noted is up to date as long as it is the
  /// same.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }

  /// Keeps what was read, null for no record, unless the stripe's version is another than before
  /// the read.
  void Insert(std::string_view user, uint64_t hash, UserRecordPtr record, uint64_t version);
  /// The change is written: unites the user's record, if it is here, with it.
  void Join(std::string_view user, uint64_t hash, const UserRecord& change);
  /// The record is written in the place of the one before; null: that was deleted.
  void Replace(std::string_view user, uint64_t hash, UserRecordPtr record);
  /// Forgets all: they may have changed.
  void Clear();

  /// What the records take, keys and tables included, about.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t most_bytes() const { return most_bytes_; }

 private:
  static constexpr size_t kStripes = 64;

  struct KeyView {
    std::string_view user;
    uint64_t hash;
  };
  struct Key {
    std::string user;
    uint64_t hash;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const { return key.hash; }
    size_t operator()(const Key& key) const { return key.hash; }
  };
  struct Equal {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a.hash == b.hash && std::string_view(a.user) == std::string_view(b.user);
    }
  };
  struct Entry {
    UserRecordPtr record;
    uint64_t bytes = 0;
    bool wanted = false;  // since CLOCK looked last
  };
  using Records = std::unordered_map<Key, Entry, Hash, Equal>;
  struct alignas(64) Stripe {
    std::atomic<uint64_t> version{0};  // raised inside the mutex
    Mutex mutex{LockRank::kLeaf};
    Records records GUARDED_BY(mutex);
    size_t hand GUARDED_BY(mutex) = 0;  // bucket of `records` that CLOCK looks at next
  };

  // Other bits than those by which a stripe's table and the directory go.
  static size_t IndexOf(uint64_t hash) { return (hash * 0x9E37'79B9'7F4A'7C15ULL) >> 58; }
  const Stripe& StripeOf(uint64_t hash) const { return stripes_[IndexOf(hash)]; }
  Stripe& StripeOf(uint64_t hash) { return stripes_[IndexOf(hash)]; }

  void Changed(Stripe& stripe) REQUIRES(stripe.mutex);
  /// Sets the record of an entry; takes the entry out where it is larger than the budget.
  void Set(Stripe& stripe, Records::iterator at, UserRecordPtr record) REQUIRES(stripe.mutex);
  void Take(Stripe& stripe, Records::iterator at) REQUIRES(stripe.mutex);
  /// Takes entries out until the budget is kept.
  void Shrink();
  void ShrinkStripe(Stripe& stripe, bool wanted_too);

  const uint64_t most_bytes_;
  std::array<Stripe, kStripes> stripes_;
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> changes_{0};
  std::atomic<size_t> turn_{0};  // stripe that is shrunk next
};

/// What a record takes in memory, about.
uint64_t BytesOf(const UserRecord& record);

}  // namespace seendb
