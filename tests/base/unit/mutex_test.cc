// Mutex, CondVar and ReadWriteMutex: who waits for whom.

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/sync.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

class Counter {
 public:
  void Add() {
    const MutexLock lock(mutex_);
    ++count_;
  }
  uint64_t count() const {
    const MutexLock lock(mutex_);
    return count_;
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  uint64_t count_ GUARDED_BY(mutex_) = 0;
};

// Handed from one thread to another.
class Baton {
 public:
  void Pass() {
    const MutexLock lock(mutex_);
    here_ = true;
    changed_.NotifyOne();
  }
  void Await() {
    const MutexLock lock(mutex_);
    while (!here_) changed_.Wait(mutex_);
    here_ = false;
  }
  /// False where it did not come in time.
  bool AwaitFor(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    const MutexLock lock(mutex_);
    while (!here_) {
      if (!changed_.WaitUntil(mutex_, end)) return here_;
    }
    return true;
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_;
  bool here_ GUARDED_BY(mutex_) = false;
};

TEST(MutexTest, OneThreadIsInsideAtATime) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&counter] {
      for (int n = 0; n < 5'000; ++n) counter.Add();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.count(), 20'000U);
}

TEST(MutexTest, ATryFailsWhereItWouldWait) {
  Mutex mutex(LockRank::kLeaf);
  const auto tried = [&mutex] {
    bool taken = false;
    std::thread([&] {
      if (!mutex.TryLock()) return;
      const MutexLock adopted(mutex, MutexLock::Adopt());
      taken = true;
    }).join();
    return taken;
  };
  {
    const MutexLock lock(mutex);
    EXPECT_FALSE(tried());
  }
  EXPECT_TRUE(tried());
  EXPECT_TRUE(tried()) << "the lock that was adopted was not given back";
}

TEST(CondVarTest, AWaitEndsWhenItIsNotified) {
  Baton there, back;
  std::thread other([&] {
    for (int n = 0; n < 100; ++n) {
      there.Await();
      back.Pass();
    }
  });
  for (int n = 0; n < 100; ++n) {
    there.Pass();
    back.Await();
  }
  other.join();
}

TEST(CondVarTest, AWaitEndsAtItsDeadline) {
  Baton baton;
  EXPECT_FALSE(baton.AwaitFor(0ms));
  EXPECT_FALSE(baton.AwaitFor(5ms));
  baton.Pass();
  EXPECT_TRUE(baton.AwaitFor(0ms)) << "what is there is not waited for";
  std::thread other([&] {
    std::this_thread::sleep_for(5ms);
    baton.Pass();
  });
  EXPECT_TRUE(baton.AwaitFor(60s));
  other.join();
}

TEST(ReadWriteMutexTest, ReadersShareItAndWritersDoNot) {
  ReadWriteMutex mutex(LockRank::kSlots);
  {
    const ReaderLock one(mutex);
    std::thread([&mutex] { const ReaderLock two(mutex); }).join();
  }
  uint64_t written = 0;
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, writes = i % 2 == 0] {
      for (int n = 0; n < 2'000; ++n) {
        if (writes) {
          const WriterLock lock(mutex);
          ++written;
        } else {
          const ReaderLock lock(mutex);
          const uint64_t before = written;
          if (n % 64 == 0) std::this_thread::yield();
          if (written != before) ++errors;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(written, 4'000U);
  EXPECT_EQ(errors, 0);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
