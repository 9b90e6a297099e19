// The throttle in a time of the test's own.

#include "transfer/throttle.h"

#include <random>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::transfer::SEENDB_TEST_FILE {
namespace {

TEST(ThrottleTest, SpreadsBytesOverTime) {
  Throttle throttle(1'000'000);
  EXPECT_EQ(throttle.Take(500'000, 10), 10);
  EXPECT_EQ(throttle.Take(500'000, 20), 500'010);
  EXPECT_EQ(throttle.Take(1, 30), 1'000'010);
  EXPECT_EQ(throttle.Take(1, 5'000'000), 5'000'000);  // idle time is not made up for
  EXPECT_EQ(throttle.Take(1, 5'000'000), 5'000'001);
}

TEST(ThrottleTest, NoSpanOfTimeHasMoreThanItsShareAndAPiece) {
  const uint64_t seed = test::Seed();
  std::mt19937_64 random(seed);
  constexpr uint64_t kRate = 3'000'017, kPiece = 1u << 20;
  Throttle throttle(kRate);
  int64_t now_us = 0;
  std::vector<std::pair<int64_t, uint64_t>> sent;  // when, how much
  for (int i = 0; i < 400; ++i) {
    const uint64_t bytes = 1 + random() % kPiece;
    if (random() % 10 == 0) now_us += static_cast<int64_t>(random() % 3'000'000);
    now_us = throttle.Take(bytes, now_us);
    sent.emplace_back(now_us, bytes);
  }
  for (size_t from = 0; from < sent.size(); ++from) {
    uint64_t sum = 0;
    for (size_t to = from; to < sent.size(); ++to) {
      sum += sent[to].second;
      const auto span_us = static_cast<uint64_t>(sent[to].first - sent[from].first);
      ASSERT_LE(sum, span_us * kRate / 1'000'000 + 1 + kPiece) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace seendb::transfer::SEENDB_TEST_FILE
