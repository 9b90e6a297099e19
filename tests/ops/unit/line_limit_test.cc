// So many lines a second, and what is left out is counted.

#include "ops/line_limit.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

using std::chrono::milliseconds;

TEST(LineLimitTest, LeavesOutWhatIsMoreAndSaysSoOnce) {
  LineLimit limit(2);
  const LineLimit::Time begin{std::chrono::seconds(1'000)};
  uint64_t left_out = 0;
  EXPECT_TRUE(limit.Take(begin, &left_out));
  EXPECT_TRUE(limit.Take(begin + milliseconds(999), &left_out));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limit.Take(begin + milliseconds(10), &left_out));
  EXPECT_EQ(limit.written(), 2u);
  EXPECT_EQ(limit.left_out(), 3u);
  EXPECT_TRUE(limit.Take(begin + milliseconds(1'000), &left_out));
  EXPECT_EQ(left_out, 3u);
  EXPECT_TRUE(limit.Take(begin + milliseconds(1'001), &left_out));
  EXPECT_EQ(left_out, 0u);
  EXPECT_FALSE(limit.Take(begin + milliseconds(500), &left_out)) << "a thread that is late";
  EXPECT_TRUE(limit.Take(begin + milliseconds(5'000), &left_out));
  EXPECT_EQ(left_out, 1u);
  EXPECT_EQ(limit.written(), 5u);
}

TEST(LineLimitTest, HoldsForAllThreadsTogether) {
  LineLimit limit(100);
  const LineLimit::Time now{std::chrono::seconds(1'000)};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      uint64_t left_out = 0;
      for (int i = 0; i < 1'000; ++i) taken += limit.Take(now, &left_out) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 100);
  EXPECT_EQ(limit.left_out(), 3'900u);
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
