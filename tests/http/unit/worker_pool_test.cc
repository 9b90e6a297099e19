// The pool runs what it took, refuses beyond its queue, and stops.

#include "http/worker_pool.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

TEST(WorkerPoolTest, RunsEverythingItTook) {
  std::atomic<int> ran{0};
  {
    WorkerPool pool(3, 1'000);
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(pool.Post([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 500);
}

TEST(WorkerPoolTest, RefusesBeyondItsQueueAndAfterStop) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::promise<void> started;
  WorkerPool pool(1, 2);
  ASSERT_TRUE(pool.Post([&] {
    started.set_value();
    released.wait();
  }));
  started.get_future().wait();
  std::atomic<int> ran{0};
  EXPECT_TRUE(pool.Post([&] { ++ran; }));
  EXPECT_TRUE(pool.Post([&] { ++ran; }));
  EXPECT_FALSE(pool.Post([&] { ++ran; }));
  EXPECT_FALSE(pool.Stop(10)) << "a job still runs";
  EXPECT_FALSE(pool.Post([&] { ++ran; }));
  release.set_value();
  EXPECT_TRUE(pool.Stop(10'000));
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
