// base/lock_ranks.h: the order in which a thread takes locks, checked in debug builds.
//
// A thread that waits for a lock holds only locks of lower ranks, none of another shard. So no two
// threads wait for each other, and no shard for another. In builds without NDEBUG each thread keeps
// a list of the locks it holds, and a lock taken out of order ends the process with both names.
// Release builds keep no list.
//
// engine/doc/concurrency.md has a table of all locks.

#pragma once

#include <cstdint>

#ifndef NDEBUG
#include <cstdio>
#include <cstdlib>
#include <vector>
#endif

namespace seendb {

/// Every kind of lock, in the order in which a thread takes them.
enum class LockRank : uint8_t {
  kServerCall,     ///< a call of which the server runs one at a time
  kCatalog,        ///< the server's copy of the collections
  kDatabaseFiles,  ///< the databases that this process has open
  kAttach,         ///< a shard that comes or goes
  kPolicies,       ///< a change of policies, a checkpoint
  kMaintenance,    ///< maintenance of an engine
  kHealing,        ///< of a shard: who opens it anew
  kShard,          ///< of a shard: who is inside; alone: opening it anew
  kErasures,       ///< of a shard: erasures to be resumed
  kDrain,          ///< of a shard: a drain
  kApply,          ///< of a shard: writes together; alone: erasure, rotation, dropped buckets
  kUserRecords,    ///< of a shard: a change of a user's record
  kMarks,          ///< of a shard: a change of a user's marks
  kOffsets,        ///< of a shard: positions in logs
  kOutbox,         ///< of a shard: changes of rows of the outbox
  kSeal,           ///< of a shard: a seal
  kFamilies,       ///< of a shard: a change of its column families
  kSyncNote,       ///< of a shard: the note of how far its log is synced
  kLogSync,        ///< of a shard: who syncs the log
  kSlots,          ///< of a shard: the slots of the ring
  kStripe,         ///< part of the users staged in a slot
  kFamilySet,      ///< of a shard: the published families
  kLeaf,           ///< memory alone, and no other lock inside
  kOpenLogs,       ///< which log files are open
  kOpenLog,        ///< one log file: a sync under way
  kInner,          ///< inside a SharedLock; the pause points of tests
};

/// Of a lock of no shard.
inline constexpr uint32_t kNoShard = UINT32_MAX;

/// Whether a thread that holds the lock may wait for a disk or the network.
constexpr bool MayBlockInside(LockRank rank, bool exclusive) {
  if (rank == LockRank::kOpenLog) return true;
  return rank < LockRank::kLogSync && !(rank == LockRank::kApply && exclusive);
}

#ifndef NDEBUG

/// The locks that this thread holds.
class HeldLocks {
 public:
  struct Held {
    const void* lock;
    LockRank rank;
    uint32_t shard;
    bool exclusive;
  };

  /// Before the thread waits for a lock: ends the process where it could wait for ever.
  static void CheckOrder(const Held& wanted) {
    for (const Held& held : OfThread()) {
      const bool of_others =
          held.shard != wanted.shard && held.shard != kNoShard && wanted.shard != kNoShard;
      if (held.rank >= wanted.rank || of_others) Fail("takes", wanted, "while it holds", held);
    }
  }
  static void Add(const Held& held) {
    if (!Ended()) OfThread().push_back(held);
  }
  static void Remove(const void* lock) {
    if (Ended()) return;
    std::vector<Held>& all = OfThread();
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      if (at->lock != lock) continue;
      all.erase(std::next(at).base());
      return;
    }
    Fail("gives back a lock that it does not hold");
  }
  static bool Holds(const void* lock, bool exclusive) {
    for (const Held& held : OfThread()) {
      if (held.lock == lock && (held.exclusive || !exclusive)) return true;
    }
    return false;
  }
  static void CheckHeld(const void* lock, bool exclusive) {
    if (!Holds(lock, exclusive)) Fail("relies on a lock that it does not hold");
  }
  static void CheckMayBlock() {
    for (const Held& held : OfThread()) {
      if (!MayBlockInside(held.rank, held.exclusive)) Fail("may wait for a disk", held);
    }
  }

 private:
  // At the end of a thread the list may be destroyed before other thread_local objects, whose
  // destructors may still take locks.
  struct List {
    std::vector<Held> held;
    ~List() { Ended() = true; }
  };
  static bool& Ended() {
    thread_local bool ended = false;
    return ended;
  }
  static std::vector<Held>& OfThread() {
    thread_local List list;
    return list.held;
  }
  static int NumberOf(LockRank rank) { return static_cast<int>(rank); }
  [[noreturn]] static void Fail(const char* what) {
    std::fprintf(stderr, "lock order: this thread %s\n", what);
    std::abort();
  }
  [[noreturn]] static void Fail(const char* what, const Held& held) {
    std::fprintf(stderr, "lock order: this thread %s while it holds a lock of rank %d\n", what,
                 NumberOf(held.rank));
    std::abort();
  }
  [[noreturn]] static void Fail(const char* what, const Held& one, const char* why,
                                const Held& other) {
    std::fprintf(stderr, "lock order: this thread %s a lock of rank %d %s one of rank %d\n", what,
                 NumberOf(one.rank), why, NumberOf(other.rank));
    std::abort();
  }
};

/// The place of one lock in the order.
class RankedLock {
 public:
  constexpr RankedLock(LockRank rank, uint32_t shard) : rank_(rank), shard_(shard) {}
  void CheckOrder(bool exclusive) const { HeldLocks::CheckOrder(As(exclusive)); }
  void Taken(bool exclusive) const { HeldLocks::Add(As(exclusive)); }
  void GivenBack() const { HeldLocks::Remove(this); }
  void CheckHeld(bool exclusive) const { HeldLocks::CheckHeld(this, exclusive); }

 private:
  HeldLocks::Held As(bool exclusive) const { return {this, rank_, shard_, exclusive}; }
  const LockRank rank_;
  const uint32_t shard_;
};

/// For a thread that is about to wait for a disk or the network: it must hold no lock whose waiters
/// expect not to wait for one (MayBlockInside). Ends the process if it holds such a lock.
inline void AssertMayBlock() { HeldLocks::CheckMayBlock(); }

#else

/// As above, of no size and no cost.
class RankedLock {
 public:
  constexpr RankedLock(LockRank, uint32_t) {}
  void CheckOrder(bool) const {}
  void Taken(bool) const {}
  void GivenBack() const {}
  void CheckHeld(bool) const {}
};

inline void AssertMayBlock() {}

#endif

}  // namespace seendb
