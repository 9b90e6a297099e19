// base/sync.h: the locks of the engine and the server. Clang checks what each guards
// (base/thread_annotations.h), debug builds the order in which a thread takes them
// (base/lock_ranks.h). engine/doc/concurrency.md has a table of all of them.
//
//   Mutex           held by one thread (MutexLock)
//   CondVar         waiting with a Mutex
//   ReadWriteMutex  held by many that read (ReaderLock) or one that writes (WriterLock); short
//   SharedLock      held by many together or one alone, for long; starves nobody
//
//   class Counter {
//    public:
//     void Add() { const MutexLock lock(mutex_); ++count_; }
//    private:
//     Mutex mutex_{LockRank::kLeaf};
//     uint64_t count_ GUARDED_BY(mutex_) = 0;
//   };
//
// A thread must not ask for a lock that it already holds, in any way. A lock is given back by the
// thread that took it.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "base/lock_ranks.h"
#include "base/thread_annotations.h"

namespace seendb {

/// See the head of this file. In release builds a std::mutex, no more.
class CAPABILITY("mutex") Mutex {
 public:
  constexpr explicit Mutex(LockRank rank, uint32_t shard = kNoShard) : ranked_(rank, shard) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ACQUIRE() {
    ranked_.CheckOrder(true);
    mutex_.lock();
    ranked_.Taken(true);
  }
  /// False where it would have to wait. In any order: it does not wait.
  bool TryLock() TRY_ACQUIRE(true) {
    if (!mutex_.try_lock()) return false;
    ranked_.Taken(true);
    return true;
  }
  void Unlock() RELEASE() {
    ranked_.GivenBack();
    mutex_.unlock();
  }
  /// The calling thread holds it.
  void AssertHeld() const ASSERT_CAPABILITY(this) { ranked_.CheckHeld(true); }

 private:
  friend class CondVar;
  std::mutex mutex_;
  [[no_unique_address]] const RankedLock ranked_;
};

/// Holds a Mutex while it lives.
class SCOPED_CAPABILITY MutexLock {
 public:
  struct Adopt {};

  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  /// The caller holds it already.
  MutexLock(Mutex& mutex, Adopt) REQUIRES(mutex) : mutex_(mutex) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() RELEASE() { mutex_.Unlock(); }

 private:
  Mutex& mutex_;
};

/// Waits for what a Mutex guards. The mutex is free meanwhile; waits may end for no reason:
///   while (!ready_) changed_.Wait(mutex_);
class CondVar {
 public:
  void Wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  /// False once the deadline has passed.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = changed_.wait_until(lock, deadline);
    lock.release();
    return status == std::cv_status::no_timeout;
  }
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

/// For short sections that many threads read in. In release builds a std::shared_mutex, no more.
class CAPABILITY("mutex") ReadWriteMutex {
 public:
  explicit ReadWriteMutex(LockRank rank, uint32_t shard = kNoShard) : ranked_(rank, shard) {}
  ReadWriteMutex(const ReadWriteMutex&) = delete;
  ReadWriteMutex& operator=(const ReadWriteMutex&) = delete;

  void Lock() ACQUIRE() {
    ranked_.CheckOrder(true);
    mutex_.lock();
    ranked_.Taken(true);
  }
  void Unlock() RELEASE() {
    ranked_.GivenBack();
    mutex_.unlock();
  }
  void LockShared() ACQUIRE_SHARED() {
    ranked_.CheckOrder(false);
    mutex_.lock_shared();
    ranked_.Taken(false);
  }
  void UnlockShared() RELEASE_SHARED() {
    ranked_.GivenBack();
    mutex_.unlock_shared();
  }
  void AssertHeld() const ASSERT_CAPABILITY(this) { ranked_.CheckHeld(true); }
  void AssertHeldShared() const ASSERT_SHARED_CAPABILITY(this) { ranked_.CheckHeld(false); }

 private:
  std::shared_mutex mutex_;
  [[no_unique_address]] const RankedLock ranked_;
};

/// Holds a ReadWriteMutex while it lives, together with other readers.
class SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(ReadWriteMutex& mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.LockShared();
  }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;
  ~ReaderLock() RELEASE() { mutex_.UnlockShared(); }

 private:
  ReadWriteMutex& mutex_;
};

/// Holds a ReadWriteMutex while it lives, alone.
class SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(ReadWriteMutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock() RELEASE() { mutex_.Unlock(); }

 private:
  ReadWriteMutex& mutex_;
};

/// Phase-fair: a thread that waits for shared entry is admitted at the end of the next exclusive
/// section, before any later exclusive section begins. So it waits for one exclusive section at
/// most, however many threads ask for one after another. Exclusive sections go in the order in
/// which they were asked for, and a thread that asks for shared entry after them waits: threads
/// that share the lock don't starve an exclusive section either.
/// Threads: any. A section ends on the thread that began it.
/// Cost: two short sections of a mutex per shared section; no allocation.
class CAPABILITY("shared lock") SharedLock {
 public:
  /// Holds the lock together with others while it lives.
  class SCOPED_CAPABILITY Shared {
   public:
    explicit Shared(SharedLock& lock) ACQUIRE_SHARED(lock) : lock_(&lock) { lock.LockShared(); }
    Shared(Shared&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
    Shared& operator=(Shared&&) = delete;
    ~Shared() RELEASE() { Leave(); }
    /// Ends the section before its time.
    void Leave() RELEASE() {
      if (lock_ != nullptr) std::exchange(lock_, nullptr)->UnlockShared();
    }
    /// Nothing where it would have to wait. Clang does not see that the lock is held.
    static std::optional<Shared> Try(SharedLock& lock) NO_THREAD_SAFETY_ANALYSIS {
      if (!lock.TryLockShared()) return {};
      return Shared(&lock);
    }
    /// Nothing where it would have to wait for longer than that. As above.
    static std::optional<Shared> TryFor(SharedLock& lock,
                                        std::chrono::milliseconds limit) NO_THREAD_SAFETY_ANALYSIS {
      if (!lock.LockSharedFor(limit)) return {};
      return Shared(&lock);
    }

   private:
    explicit Shared(SharedLock* entered) : lock_(entered) {}
    SharedLock* lock_;
  };

  /// Holds the lock alone while it lives.
  class SCOPED_CAPABILITY Exclusive {
   public:
    explicit Exclusive(SharedLock& lock) ACQUIRE(lock) : lock_(lock) { lock.Lock(); }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;
    ~Exclusive() RELEASE() { lock_.Unlock(); }

   private:
    SharedLock& lock_;
  };

  explicit SharedLock(LockRank rank, uint32_t shard = kNoShard) : ranked_(rank, shard) {}
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

  void AssertHeld() const ASSERT_CAPABILITY(this) { ranked_.CheckHeld(true); }
  void AssertHeldShared() const ASSERT_SHARED_CAPABILITY(this) { ranked_.CheckHeld(false); }

 private:
  void LockShared() ACQUIRE_SHARED() {
    ranked_.CheckOrder(false);
    {
      const MutexLock lock(mutex_);
      if (tickets_ == served_) {
        ++inside_;
      } else {
        ++waiting_;
        // The exclusive section that ends admits all who wait, so it counts them as inside itself.
        for (const uint64_t phase = served_; served_ == phase;) changed_.Wait(mutex_);
      }
    }
    ranked_.Taken(false);
  }
  bool TryLockShared() TRY_ACQUIRE_SHARED(true) {
    {
      const MutexLock lock(mutex_);
      if (tickets_ != served_) return false;
      ++inside_;
    }
    ranked_.Taken(false);
    return true;
  }
  bool LockSharedFor(std::chrono::milliseconds limit) TRY_ACQUIRE_SHARED(true) {
    ranked_.CheckOrder(false);
    {
      const MutexLock lock(mutex_);
      if (tickets_ == served_) {
        ++inside_;
      } else {
        ++waiting_;
        const auto deadline = std::chrono::steady_clock::now() + limit;
        for (const uint64_t phase = served_; served_ == phase;) {
          if (changed_.WaitUntil(mutex_, deadline) || served_ != phase) continue;
          --waiting_;
          return false;
        }
      }
    }
    ranked_.Taken(false);
    return true;
  }
  void UnlockShared() RELEASE_SHARED() {
    ranked_.GivenBack();
    const MutexLock lock(mutex_);
    if (--inside_ == 0 && tickets_ != served_) changed_.NotifyAll();
  }
  void Lock() ACQUIRE() {
    ranked_.CheckOrder(true);
    {
      const MutexLock lock(mutex_);
      const uint64_t ticket = tickets_++;
      while (ticket != served_ || inside_ != 0) changed_.Wait(mutex_);
    }
    ranked_.Taken(true);
  }
  void Unlock() RELEASE() {
    ranked_.GivenBack();
    const MutexLock lock(mutex_);
    ++served_;
    inside_ += std::exchange(waiting_, 0);
    changed_.NotifyAll();
  }

  Mutex mutex_{LockRank::kInner};
  CondVar changed_;
  uint64_t tickets_ GUARDED_BY(mutex_) = 0;  // exclusive sections asked for
  uint64_t served_ GUARDED_BY(mutex_) = 0;   // those that have ended; the next has this ticket
  uint32_t inside_ GUARDED_BY(mutex_) = 0;   // shared holders
  uint32_t waiting_ GUARDED_BY(mutex_) = 0;  // for shared entry
  [[no_unique_address]] const RankedLock ranked_;
};

}  // namespace seendb
