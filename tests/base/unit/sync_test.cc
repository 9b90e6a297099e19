// Who enters a SharedLock, and in which order.

#include "base/sync.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

// What happened, in order.
class Order {
 public:
  void Add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    all_.push_back(what);
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

// Threads that ask for a lock one after another: each waits before the next one asks.
class Queue {
 public:
  explicit Queue(SharedLock& lock) : lock_(lock) {}
  ~Queue() { Join(); }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void Exclusive(const std::string& name) {
    threads_.emplace_back([this, name] {
      const SharedLock::Exclusive alone(lock_);
      order_.Add(name);
    });
    std::this_thread::sleep_for(50ms);
  }
  void Shared(const std::string& name) {
    threads_.emplace_back([this, name] {
      const SharedLock::Shared inside(lock_);
      order_.Add(name);
      std::this_thread::sleep_for(20ms);
    });
    std::this_thread::sleep_for(50ms);
  }
  std::vector<std::string> order() const { return order_.all(); }

 private:
  SharedLock& lock_;
  Order order_;
  std::vector<std::thread> threads_;
};

using Names = std::vector<std::string>;

TEST(SharedLockTest, ManyHoldItTogether) {
  SharedLock lock{LockRank::kApply};
  const SharedLock::Shared one(lock);
  std::thread([&lock] { const SharedLock::Shared two(lock); }).join();
}

TEST(SharedLockTest, WhoeverWaitsToShareIsAdmittedBeforeTheNextExclusiveSection) {
  SharedLock lock{LockRank::kApply};
  std::optional<SharedLock::Exclusive> first(lock);
  Queue queue(lock);
  queue.Exclusive("second");
  queue.Shared("shared");
  queue.Exclusive("third");
  first.reset();
  queue.Join();
  EXPECT_EQ(queue.order(), (Names{"shared", "second", "third"}));
}

TEST(SharedLockTest, ExclusiveSectionsGoInTheOrderInWhichTheyAreAskedFor) {
  SharedLock lock{LockRank::kApply};
  std::optional<SharedLock::Shared> inside(lock);
  Queue queue(lock);
  for (const char* name : {"1", "2", "3", "4", "5"}) queue.Exclusive(name);
  inside.reset();
  queue.Join();
  EXPECT_EQ(queue.order(), (Names{"1", "2", "3", "4", "5"}));
}

TEST(SharedLockTest, WhoeverAsksToShareAfterAnExclusiveSectionWaitsForIt) {
  SharedLock lock{LockRank::kApply};
  std::optional<SharedLock::Shared> inside(lock);
  Queue queue(lock);
  queue.Exclusive("alone");
  queue.Shared("shared");
  EXPECT_EQ(queue.order(), Names());
  inside.reset();
  queue.Join();
  EXPECT_EQ(queue.order(), (Names{"alone", "shared"}));
}

TEST(SharedLockTest, ATryFailsWhereItWouldWait) {
  SharedLock lock{LockRank::kApply};
  EXPECT_TRUE(SharedLock::Shared::Try(lock).has_value());
  {
    const SharedLock::Exclusive alone(lock);
    EXPECT_FALSE(SharedLock::Shared::Try(lock).has_value());
  }
  std::optional<SharedLock::Shared> inside = SharedLock::Shared::Try(lock);
  ASSERT_TRUE(inside.has_value());
  Queue queue(lock);
  queue.Exclusive("alone");
  EXPECT_FALSE(SharedLock::Shared::Try(lock).has_value()) << "an exclusive section waits";
  inside.reset();
  queue.Join();
  EXPECT_TRUE(SharedLock::Shared::Try(lock).has_value());
}

TEST(SharedLockTest, AMovedSectionIsLeftOnce) {
  SharedLock lock{LockRank::kShard}, next{LockRank::kApply};
  {
    SharedLock::Shared one(lock);
    std::vector<SharedLock::Shared> held;
    held.push_back(std::move(one));
    held.push_back(SharedLock::Shared(next));
  }
  const SharedLock::Exclusive alone(lock);
  const SharedLock::Exclusive also(next);
}

TEST(SharedLockTest, ASectionCanBeLeftBeforeItsTime) {
  SharedLock lock{LockRank::kApply};
  SharedLock::Shared inside(lock);
  inside.Leave();
  const SharedLock::Exclusive alone(lock);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
