#include "filter/block_bloom.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::vector<InstructionSet> SupportedSets() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::kScalar, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (Supported(set)) sets.push_back(set);
  }
  return sets;
}

TEST(BlockBloom, ScalarIsAlwaysThere) {
  EXPECT_TRUE(Supported(InstructionSet::kScalar));
  EXPECT_TRUE(Supported(FastestInstructionSet()));
  EXPECT_FALSE(Supported(static_cast<InstructionSet>(77)));
  EXPECT_STREQ(InstructionSetName(InstructionSet::kScalar), "scalar");
  EXPECT_STREQ(InstructionSetName(InstructionSet::kAvx2), "avx2");
  EXPECT_STREQ(InstructionSetName(InstructionSet::kAvx512), "avx512");
}

TEST(BlockBloom, OneItemSetsOneBitOfEachLaneOfItsBlock) {
  constexpr uint64_t kBlocks = 5;
  for (const Fingerprint fp :
       {Fingerprint{0}, Fingerprint{1}, Fingerprint{0x1234'5678'9ABC}, kFingerprintMask}) {
    std::vector<uint8_t> bits(kBlocks * kBlockBytes);
    Insert(bits.data(), kBlocks, fp);
    EXPECT_EQ(CountBits(bits.data(), kBlocks), kLanesPerBlock);
    const uint64_t hash = BlockHash(fp);
    const uint64_t block = BlockOf(hash, kBlocks);
    ASSERT_LT(block, kBlocks);
    for (size_t lane = 0; lane < kLanesPerBlock; ++lane) {
      const uint32_t bit = LaneBitOf(hash, lane);
      ASSERT_LT(bit, kLaneBits);
      const size_t byte = block * kBlockBytes + lane * 8 + bit / 8;  // little-endian lanes
      EXPECT_EQ(bits[byte] >> (bit % 8) & 1, 1);
    }
    EXPECT_TRUE(Contains(bits.data(), kBlocks, fp));
    EXPECT_FALSE(Contains(bits.data(), kBlocks, fp ^ 0x55));
  }
}

TEST(BlockBloom, TheFunctionIsPinned) {  // a change here is a new format version
  EXPECT_EQ(BlockHash(1), 0x9E37'79B9'E17D'05ACU);
  const uint64_t hash = BlockHash(0x1234'5678'9ABC);
  const uint64_t product = 0x1234'5678'9ABCULL * 0x9E37'79B9'7F4A'7C15ULL;
  EXPECT_EQ(hash, product ^ (product >> 32));
  EXPECT_EQ(BlockOf(hash, 1), 0U);
  EXPECT_EQ(BlockOf(~uint64_t{0}, kBlocksMax), kBlocksMax - 1);
  EXPECT_EQ(LaneBitOf(1, 0), 0x6A09E667U >> 26);
  EXPECT_EQ(LaneBitOf(0xFFFF'FFFF'0000'0001U, 7), 0x5BE0CD19U >> 26) << "low half only";
  for (const uint32_t salt : kLaneSalt) EXPECT_EQ(salt & 1, 1U);
}

TEST(BlockBloom, EveryKernelAgreesOnAKnownFilter) {
  constexpr uint64_t kBlocks = 3;
  std::vector<Fingerprint> fps(100);
  for (size_t i = 0; i < fps.size(); ++i) fps[i] = (i * 0x1357'9BDF'0246) & kFingerprintMask;
  std::vector<uint8_t> one_by_one(kBlocks * kBlockBytes);
  for (size_t i = 0; i < 50; ++i) Insert(one_by_one.data(), kBlocks, fps[i]);
  for (const InstructionSet set : SupportedSets()) {
    std::vector<uint8_t> bits(kBlocks * kBlockBytes);
    InsertMany(set, bits.data(), kBlocks, fps.data(), 50);
    EXPECT_EQ(bits, one_by_one) << InstructionSetName(set);
    std::vector<uint8_t> hits(fps.size(), 0xEE);
    ProbeMany(set, bits.data(), kBlocks, fps.data(), fps.size(), hits.data());
    for (size_t i = 0; i < fps.size(); ++i) {
      EXPECT_EQ(hits[i], Contains(bits.data(), kBlocks, fps[i]) ? 1 : 0);
    }
  }
}

TEST(BlockBloom, NoItemsTouchNothing) {
  std::vector<uint8_t> bits(kBlockBytes, 0xAB);
  const std::vector<uint8_t> before = bits;
  for (const InstructionSet set : SupportedSets()) {
    InsertMany(set, bits.data(), 1, nullptr, 0);
    ProbeMany(set, bits.data(), 1, nullptr, 0, nullptr);
  }
  EXPECT_EQ(bits, before);
}

TEST(BlockBloom, BytesOutsideTheFilterStay) {
  constexpr uint64_t kBlocks = 2;
  for (const InstructionSet set : SupportedSets()) {
    std::vector<uint8_t> bytes(kBlocks * kBlockBytes + 128, 0);
    uint8_t* bits = bytes.data() + 61;
    std::vector<Fingerprint> fps(1'000);
    for (size_t i = 0; i < fps.size(); ++i) fps[i] = (i * 0x9E37'79B9'7F4B) & kFingerprintMask;
    InsertMany(set, bits, kBlocks, fps.data(), fps.size());
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.begin() + 61, [](uint8_t b) { return b == 0; }));
    EXPECT_TRUE(std::all_of(bits + kBlocks * kBlockBytes, bytes.data() + bytes.size(),
                            [](uint8_t b) { return b == 0; }));
    EXPECT_EQ(CountBits(bits, kBlocks), kBlocks * kBlockBits) << "1,000 items fill two blocks";
  }
}

TEST(BlockBloom, CountsBits) {
  std::vector<uint8_t> bits(2 * kBlockBytes + 1, 0xFF);
  EXPECT_EQ(CountBits(bits.data() + 1, 2), 1024U);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint8_t>(i);
  uint64_t expected = 0;
  for (size_t i = 1; i < bits.size(); ++i)
    expected += static_cast<uint64_t>(std::popcount(bits[i]));
  EXPECT_EQ(CountBits(bits.data() + 1, 2), expected);
}

TEST(BlockBloom, HitChancesOfFullHalfAndEmptyBlocks) {
  std::vector<uint8_t> bits(3 * kBlockBytes, 0);
  std::fill_n(bits.begin(), kBlockBytes, uint8_t{0xFF});
  std::fill_n(bits.begin() + kBlockBytes, kBlockBytes, uint8_t{0x0F});
  EXPECT_DOUBLE_EQ(SumOfHitChances(bits.data(), 3), 1 + 1.0 / 256);
}

TEST(BlockBloom, OrIsTheUnion) {
  std::vector<uint8_t> a(kBlockBytes, 0x03);
  const std::vector<uint8_t> b(kBlockBytes, 0x05);
  OrBlocks(b.data(), 1, a.data());
  EXPECT_EQ(a, std::vector<uint8_t>(kBlockBytes, 0x07));
}

TEST(BlockBloom, FoldOrsRunsOfNeighbours) {
  std::vector<uint8_t> bits(6 * kBlockBytes);
  for (size_t block = 0; block < 6; ++block) {
    std::fill_n(bits.begin() + static_cast<int64_t>(block * kBlockBytes), kBlockBytes,
                static_cast<uint8_t>(1U << block));
  }
  std::vector<uint8_t> folded(2 * kBlockBytes, 0xEE);
  Fold(bits.data(), 6, 3, folded.data());
  EXPECT_EQ(folded.front(), 0x07);
  EXPECT_EQ(folded.back(), 0x38);
  std::vector<uint8_t> same(bits.size());
  Fold(bits.data(), 6, 1, same.data());
  EXPECT_EQ(same, bits);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
