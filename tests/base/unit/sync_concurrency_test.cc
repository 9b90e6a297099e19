// SharedLock under many threads: exclusive sections exclude, and nobody starves.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/sync.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

TEST(SharedLockConcurrencyTest, ExclusiveSectionsSeeNobodyElse) {
  SharedLock lock{LockRank::kApply};
  uint64_t written = 0;  // changed by exclusive sections alone, read by shared ones
  std::atomic<int> inside{0}, errors{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 2'000; ++n) {
        const SharedLock::Exclusive alone(lock);
        if (inside != 0) ++errors;
        ++written;
      }
    });
  }
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 2'000; ++n) {
        const SharedLock::Shared together(lock);
        ++inside;
        const uint64_t before = written;
        if (n % 16 == 0) std::this_thread::yield();
        if (written != before) ++errors;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(written, 6'000U);
}

TEST(SharedLockConcurrencyTest, AWaitForSharedEntryEndsAtItsDeadline) {
  SharedLock lock{LockRank::kApply};
  EXPECT_TRUE(SharedLock::Shared::TryFor(lock, 0ms)) << "nobody is there";
  std::atomic<bool> inside{false}, leave{false};
  std::thread exclusive([&] {
    const SharedLock::Exclusive alone(lock);
    inside = true;
    while (!leave) std::this_thread::sleep_for(1ms);
  });
  while (!inside) std::this_thread::yield();
  EXPECT_FALSE(SharedLock::Shared::TryFor(lock, 0ms));
  EXPECT_FALSE(SharedLock::Shared::TryFor(lock, 10ms));
  std::thread waiting([&] {
    EXPECT_TRUE(SharedLock::Shared::TryFor(lock, 60s));
    EXPECT_TRUE(SharedLock::Shared::TryFor(lock, 0ms));
  });
  std::this_thread::sleep_for(5ms);
  leave = true;
  waiting.join();
  exclusive.join();
  const SharedLock::Exclusive alone(lock);  // whoever gave up is not counted as inside
}

TEST(SharedLockConcurrencyTest, SharedEntryWaitsForOneExclusiveSectionAtMost) {
  SharedLock lock{LockRank::kApply};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> sections{0};
  uint64_t most = 0;
  std::vector<std::thread> exclusive;
  for (int i = 0; i < 3; ++i) {
    exclusive.emplace_back([&] {
      while (!stop) {
        const SharedLock::Exclusive alone(lock);
        ++sections;
        std::this_thread::sleep_for(1ms);
      }
    });
  }
  while (sections < 3) std::this_thread::yield();
  for (int n = 0; n < 100; ++n) {
    const uint64_t before = sections;
    const SharedLock::Shared together(lock);
    most = std::max(most, sections - before);
  }
  stop = true;
  for (std::thread& thread : exclusive) thread.join();
  // The system may stop this thread between its look at the count and its request for entry.
  EXPECT_LE(most, 20U) << "exclusive sections that began while this thread waited";
}

TEST(SharedLockConcurrencyTest, AnExclusiveSectionIsNotStarvedByThreadsThatShare) {
  SharedLock lock{LockRank::kApply};
  std::atomic<bool> stop{false};
  std::vector<std::thread> shared;
  for (int i = 0; i < 4; ++i) {
    shared.emplace_back([&] {
      while (!stop) {
        const SharedLock::Shared together(lock);
        std::this_thread::sleep_for(100us);
      }
    });
  }
  for (int n = 0; n < 50; ++n) const SharedLock::Exclusive alone(lock);
  stop = true;
  for (std::thread& thread : shared) thread.join();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
