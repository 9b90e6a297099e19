// Block Bloom filters of any size, at any alignment: every kernel does the same, nothing inserted
// is ever missed, folding is building small.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "filter/block_bloom.h"
#include "filter/sizing.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::vector<Fingerprint> RandomFingerprints(std::mt19937_64* random, size_t n) {
  std::vector<Fingerprint> fps(n);
  for (Fingerprint& fp : fps) fp = (*random)() & kFingerprintMask;
  return fps;
}

/// From 1 to 2^max_bits, all magnitudes alike.
uint64_t AnyMagnitude(std::mt19937_64* random, unsigned max_bits) {
  const uint64_t bits = 1 + (*random)() % max_bits;
  return 1 + (*random)() % (uint64_t{1} << bits);
}

constexpr InstructionSet kAll[] = {InstructionSet::kScalar, InstructionSet::kAvx2,
                                   InstructionSet::kAvx512};

TEST(FilterKernels, AllAgreeAndNothingInsertedIsMissed) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 200; ++round) {
    // Some beyond the size from which probes are prefetched.
    const uint64_t blocks = AnyMagnitude(&random, round % 20 == 0 ? 14 : 9);
    const size_t shift = random() % 64;
    const auto inserted = RandomFingerprints(&random, AnyMagnitude(&random, 13));
    auto candidates = RandomFingerprints(&random, AnyMagnitude(&random, 12));
    candidates.insert(candidates.end(), inserted.begin(), inserted.end());

    std::vector<uint8_t> bits_by_one(blocks * kBlockBytes);
    for (const Fingerprint fp : inserted) Insert(bits_by_one.data(), blocks, fp);
    std::vector<uint8_t> hits_by_one(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      hits_by_one[i] = Contains(bits_by_one.data(), blocks, candidates[i]) ? 1 : 0;
    }
    const auto inserted_size = static_cast<int64_t>(inserted.size());
    ASSERT_EQ(std::count(hits_by_one.end() - inserted_size, hits_by_one.end(), 1), inserted_size);

    for (const InstructionSet set : kAll) {
      if (!Supported(set)) continue;
      std::vector<uint8_t> memory(blocks * kBlockBytes + shift);
      uint8_t* bits = memory.data() + shift;
      InsertMany(set, bits, blocks, inserted.data(), inserted.size());
      ASSERT_TRUE(std::equal(bits_by_one.begin(), bits_by_one.end(), bits))
          << InstructionSetName(set) << " blocks " << blocks << " shift " << shift;
      std::vector<uint8_t> hits(candidates.size(), 0xEE);
      ProbeMany(set, bits, blocks, candidates.data(), candidates.size(), hits.data());
      ASSERT_EQ(hits, hits_by_one) << InstructionSetName(set) << " blocks " << blocks;
    }
  }
}

TEST(FilterKernels, AgreeOnArbitraryBytes) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 100; ++round) {
    const uint64_t blocks = AnyMagnitude(&random, 7);
    std::vector<uint8_t> bits(blocks * kBlockBytes);
    for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random() | random());
    const auto candidates = RandomFingerprints(&random, 2'000);
    std::vector<uint8_t> scalar(candidates.size());
    ProbeMany(InstructionSet::kScalar, bits.data(), blocks, candidates.data(), candidates.size(),
              scalar.data());
    for (const InstructionSet set : kAll) {
      if (!Supported(set)) continue;
      std::vector<uint8_t> hits(candidates.size());
      ProbeMany(set, bits.data(), blocks, candidates.data(), candidates.size(), hits.data());
      ASSERT_EQ(hits, scalar) << InstructionSetName(set);
    }
  }
}

TEST(FilterKernels, SeveralFiltersAtOnceAreEachOne) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 100; ++round) {
    const size_t count = 1 + random() % kProbedAtOnce;
    std::vector<std::vector<uint8_t>> bits(count);
    std::vector<BlockFilter> filters(count);
    for (size_t f = 0; f < count; ++f) {
      filters[f].blocks = AnyMagnitude(&random, 13);  // beyond 4,096 blocks they are prefetched
      bits[f].resize(filters[f].blocks * kBlockBytes);
      for (uint8_t& byte : bits[f]) byte = static_cast<uint8_t>(random() | random() | random());
      filters[f].bits = bits[f].data();
    }
    const auto candidates = RandomFingerprints(&random, AnyMagnitude(&random, 11));
    std::vector<uint8_t> expected(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      for (size_t f = 0; f < count; ++f) {
        const bool held = Contains(filters[f].bits, filters[f].blocks, candidates[i]);
        expected[i] = static_cast<uint8_t>(expected[i] | (held ? 1 << f : 0));
      }
    }
    for (const InstructionSet set : kAll) {
      if (!Supported(set)) continue;
      std::vector<uint8_t> hits(candidates.size(), 0xEE);
      ProbeMany(set, filters.data(), count, candidates.data(), candidates.size(), hits.data());
      ASSERT_EQ(hits, expected) << InstructionSetName(set) << " filters " << count;
    }
  }
}

TEST(FilterKernels, FoldingIsBuildingSmall) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 200; ++round) {
    const uint64_t small_blocks = AnyMagnitude(&random, 7);
    const uint64_t factor = AnyMagnitude(&random, 5);
    const uint64_t blocks = small_blocks * factor;
    const auto fps = RandomFingerprints(&random, AnyMagnitude(&random, 12));
    std::vector<uint8_t> large(blocks * kBlockBytes);
    std::vector<uint8_t> small(small_blocks * kBlockBytes);
    InsertMany(large.data(), blocks, fps.data(), fps.size());
    InsertMany(small.data(), small_blocks, fps.data(), fps.size());
    std::vector<uint8_t> folded(small_blocks * kBlockBytes, 0xEE);
    Fold(large.data(), blocks, factor, folded.data());
    ASSERT_EQ(folded, small) << small_blocks << " x " << factor;
  }
}

TEST(FilterKernels, OrIsInsertingBoth) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 100; ++round) {
    const uint64_t blocks = AnyMagnitude(&random, 7);
    const auto first = RandomFingerprints(&random, AnyMagnitude(&random, 10));
    const auto second = RandomFingerprints(&random, AnyMagnitude(&random, 10));
    std::vector<uint8_t> a(blocks * kBlockBytes);
    std::vector<uint8_t> b(blocks * kBlockBytes);
    std::vector<uint8_t> both(blocks * kBlockBytes);
    InsertMany(a.data(), blocks, first.data(), first.size());
    InsertMany(b.data(), blocks, second.data(), second.size());
    InsertMany(both.data(), blocks, second.data(), second.size());
    InsertMany(both.data(), blocks, first.data(), first.size());
    std::vector<uint8_t> ored = a;
    OrBlocks(b.data(), blocks, ored.data());
    ASSERT_EQ(ored, both);
    OrBlocks(b.data(), blocks, ored.data());
    ASSERT_EQ(ored, both) << "idempotent";
    OrBlocks(a.data(), blocks, b.data());
    ASSERT_EQ(b, both) << "commutative";
  }
}

/// Mean and standard error of what was observed.
class Observed {
 public:
  void Add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  double Mean() const { return sum_ / count_; }
  double StandardError() const {
    return std::sqrt(std::max(squares_ / count_ - Mean() * Mean(), 0.0) / (count_ - 1));
  }

 private:
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

/// Many filters of a size are built and asked for items they do not hold: the mean rate must be
/// what the sizing expects, within six standard errors and 0.5 % of it.
void CheckRate(std::mt19937_64* random, uint64_t blocks, size_t items) {
  constexpr size_t kAskedOfEach = 10'000;
  const size_t filters = std::clamp<size_t>(8'000'000 / items, 100, 2'000);
  Observed measured;
  Observed estimated;
  Observed estimated_items;
  for (size_t filter = 0; filter < filters; ++filter) {
    std::vector<uint8_t> bits(blocks * kBlockBytes);
    const auto inserted = RandomFingerprints(random, items);
    InsertMany(bits.data(), blocks, inserted.data(), items);
    const auto absent = RandomFingerprints(random, kAskedOfEach);
    std::vector<uint8_t> hits(kAskedOfEach);
    ProbeMany(bits.data(), blocks, absent.data(), kAskedOfEach, hits.data());
    measured.Add(static_cast<double>(std::count(hits.begin(), hits.end(), 1)) / kAskedOfEach);
    estimated.Add(EstimateFpr(bits.data(), blocks));
    estimated_items.Add(static_cast<double>(EstimateItems(bits.data(), blocks)));
  }
  const double expected = ExpectedFpr(blocks, static_cast<double>(items));
  EXPECT_NEAR(measured.Mean(), expected, 6 * measured.StandardError() + 0.005 * expected)
      << blocks << " blocks, " << items << " items";
  EXPECT_NEAR(estimated.Mean(), expected, 6 * estimated.StandardError() + 0.005 * expected)
      << blocks << " blocks, " << items << " items";
  EXPECT_NEAR(estimated_items.Mean(), static_cast<double>(items),
              0.01 * static_cast<double>(items) + 1);
  // Neither is a tolerance that lets anything pass.
  EXPECT_LT(measured.StandardError(), 0.05 * expected);
  EXPECT_LT(estimated.StandardError(), 0.03 * expected);
}

TEST(FilterKernels, MeasuredRateIsTheExpectedOne) {
  std::mt19937_64 random(test::Seed());
  CheckRate(&random, 1, 20);
  CheckRate(&random, 1, 36);
  CheckRate(&random, 3, 120);
  CheckRate(&random, 91, 3'300);  // 14 bits an item
  CheckRate(&random, 86, 3'300);  // 13.3
  CheckRate(&random, 64, 3'300);  // 10
  CheckRate(&random, 1'000, 30'000);
  CheckRate(&random, BlocksFor(50'000, 0.0025), 50'000);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
