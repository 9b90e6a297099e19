#include "filter/sizing.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "filter/block_bloom.h"
#include "filter/hash.h"
#include "seendb/policy.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// The same expectation summed over the number of items in a block.
double SummedFpr(uint64_t blocks, int items) {
  const double share = 1.0 / static_cast<double>(blocks);
  double sum = 0;
  for (int k = 0; k <= items; ++k) {
    const double log_chance = std::lgamma(items + 1.0) - std::lgamma(k + 1.0) -
                              std::lgamma(items - k + 1.0) + k * std::log(share) +
                              (items - k) * std::log1p(-share);
    sum += std::exp(log_chance) * std::pow(1 - std::pow(63.0 / 64, k), 8);
  }
  return sum;
}

TEST(ExpectedFpr, IsTheBinomialSum) {
  for (const uint64_t blocks : {2U, 7U, 91U, 1000U}) {
    for (const int items : {1, 5, 40, 300, 3'300}) {
      const double summed = SummedFpr(blocks, items);
      EXPECT_NEAR(ExpectedFpr(blocks, items), summed, summed * 1e-8 + 1e-13)
          << blocks << " " << items;
    }
  }
}

TEST(ExpectedFpr, OfOneBlock) {
  for (const int items : {1, 10, 36, 100, 1'000}) {
    const double expected = std::pow(1 - std::pow(63.0 / 64, items), 8);
    EXPECT_NEAR(ExpectedFpr(1, items), expected, expected * 1e-8 + 1e-13);
  }
}

TEST(ExpectedFpr, EndsAreZeroAndOne) {
  EXPECT_EQ(ExpectedFpr(10, 0), 0);
  EXPECT_NEAR(ExpectedFpr(1, 1e9), 1, 1e-12);
  EXPECT_GE(ExpectedFpr(1'000'000, 1), 0);
}

TEST(ExpectedFpr, AtFourteenBitsAnItem) {
  EXPECT_NEAR(ExpectedFpr(1'000'000, 1e6 * 512 / 14), 0.0018, 0.0001);
  EXPECT_LT(ExpectedFpr(1'000'000, 1e6 * 512 / 13.3), 0.0025);
}

TEST(BlocksFor, IsTheFewestThatKeepTheRate) {
  for (const double fpr : {0.5, 0.01, 0.0025, 1e-4, 1e-6, 1e-8}) {
    for (const uint64_t items : {0ULL, 1ULL, 2ULL, 5ULL, 10ULL, 33ULL, 100ULL, 999ULL, 4'096ULL,
                                 130'000ULL, 20'000'000ULL}) {
      const uint64_t blocks = BlocksFor(items, fpr);
      ASSERT_GE(blocks, 1U);
      EXPECT_LE(ExpectedFpr(blocks, static_cast<double>(items)), fpr) << items << " " << fpr;
      if (blocks > 1) {
        EXPECT_GT(ExpectedFpr(blocks - 1, static_cast<double>(items)), fpr) << items << " " << fpr;
      }
    }
  }
}

TEST(BlocksFor, StopsAtTheLargestFilter) {
  EXPECT_EQ(BlocksFor(uint64_t{1} << 47, 1e-6), kBlocksMax);
  EXPECT_EQ(BlocksFor(1'000, 1), 1U);
}

TEST(CapacityOf, IsTheMostThatKeepTheRate) {
  for (const double fpr : {0.5, 0.01, 0.0025, 1e-4, 1e-6, 1e-8}) {
    for (const uint64_t blocks : {1U, 2U, 3U, 10U, 91U, 3'500U, 1'000'000U}) {
      const uint64_t items = CapacityOf(blocks, fpr);
      EXPECT_LE(ExpectedFpr(blocks, static_cast<double>(items)), fpr) << blocks << " " << fpr;
      EXPECT_GT(ExpectedFpr(blocks, static_cast<double>(items) + 1), fpr) << blocks << " " << fpr;
    }
  }
  EXPECT_GT(CapacityOf(1, 1), uint64_t{1} << 40);
}

TEST(CapacityOf, AndBlocksForAreInverse) {
  for (const uint64_t blocks : {1U, 8U, 91U, 5'000U}) {
    EXPECT_EQ(BlocksFor(CapacityOf(blocks, 0.0025), 0.0025), blocks);
    EXPECT_EQ(BlocksFor(CapacityOf(blocks, 0.0025) + 1, 0.0025), blocks + 1);
  }
}

TEST(Estimates, OfAnEmptyAndAFullFilter) {
  std::vector<uint8_t> bits(4 * kBlockBytes, 0);
  EXPECT_EQ(Fill(bits.data(), 4), 0);
  EXPECT_EQ(EstimateFpr(bits.data(), 4), 0);
  EXPECT_EQ(EstimateItems(bits.data(), 4), 0U);
  bits.assign(bits.size(), 0xFF);
  EXPECT_EQ(Fill(bits.data(), 4), 1);
  EXPECT_EQ(EstimateFpr(bits.data(), 4), 1);
  EXPECT_GT(EstimateItems(bits.data(), 4), 1'000U);
}

TEST(EffectiveMaxFilterBytes, IsThePolicysOrRoomFor130000Items) {
  Policy policy;
  policy.max_filter_bytes = 12'345;
  EXPECT_EQ(EffectiveMaxFilterBytes(policy), 12'345U);
  policy.max_filter_bytes = 0;
  const uint64_t bytes = EffectiveMaxFilterBytes(policy);
  EXPECT_GE(bytes, BlocksFor(130'000, policy.fpr / policy.window) * kBlockBytes);
  EXPECT_LE(bytes, 130'000U * kFingerprintBytes) << "never more than the list";
  policy.representation = Representation::kExact;
  EXPECT_GE(EffectiveMaxFilterBytes(policy), 130'000U * kFingerprintBytes);
}

TEST(EffectiveMaxFilterBytes, GrowsAsTheBudgetShrinks) {
  Policy policy;
  uint64_t before = 0;
  for (const double fpr : {0.5, 0.1, 0.01, 1e-4, 1e-6}) {
    policy.fpr = fpr;
    EXPECT_GT(EffectiveMaxFilterBytes(policy), before);
    EXPECT_LE(EffectiveMaxFilterBytes(policy), kMaxFilterBytes);
    before = EffectiveMaxFilterBytes(policy);
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
