#include "random.h"

#include <cmath>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(Random, SplitMix64KnownNumbers) {
  // The published sequence for seed 1234567.
  uint64_t state = 1234567;
  EXPECT_EQ(SplitMix64(&state), 6457827717110365317ULL);
  EXPECT_EQ(SplitMix64(&state), 3203168211198807973ULL);
  EXPECT_EQ(SplitMix64(&state), 9817491932198370423ULL);
}

TEST(Random, StreamsAndSeedsDiffer) {
  Random a(1, 0);
  Random again(1, 0);
  Random other_stream(1, 1);
  Random other_seed(2, 0);
  const uint64_t first = a.Next();
  EXPECT_EQ(first, again.Next());
  EXPECT_NE(first, other_stream.Next());
  EXPECT_NE(first, other_seed.Next());
}

TEST(Random, BelowAndUniformStayInRange) {
  Random random(7);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    EXPECT_LT(random.Below(10), 10U);
    const double x = random.Uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.01);
  EXPECT_EQ(random.Below(1), 0U);
}

TEST(Random, NormalMomentsAndTails) {
  Random random(11);
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  int beyond_p99 = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.Normal();
    sum += x;
    squares += x * x;
    beyond_p99 += x > 2.3263 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(beyond_p99 / static_cast<double>(kDraws), 0.01, 0.001);
}

TEST(Random, ExpAndLogAgreeWithTheLibrary) {
  for (double x = -30; x <= 30; x += 0.037) {
    EXPECT_NEAR(PortableExp(x) / std::exp(x), 1, 1e-13) << x;
    const double y = std::exp(x);
    EXPECT_NEAR(PortableLog(y), std::log(y), 1e-13 * std::max(1.0, std::abs(x))) << y;
  }
  EXPECT_EQ(PortableExp(0), 1);
  EXPECT_EQ(PortableLog(1), 0);
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
