#include "filter/probe_set.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// A list in memory of its exact size, so that a sanitizer sees any byte read outside it.
class Packed {
 public:
  explicit Packed(const std::vector<Fingerprint>& fps)
      : count_(fps.size()), bytes_(new uint8_t[fps.size() * kFingerprintBytes]) {
    for (size_t i = 0; i < fps.size(); ++i) {
      StoreFingerprint(fps[i], bytes_.get() + i * kFingerprintBytes);
    }
  }
  const uint8_t* data() const { return bytes_.get(); }
  size_t count() const { return count_; }

 private:
  size_t count_;
  std::unique_ptr<uint8_t[]> bytes_;
};

std::vector<uint8_t> Probe(const Packed& list, const std::vector<Fingerprint>& fps) {
  std::vector<uint8_t> hits(fps.size(), 0xEE);
  ProbeScratch scratch;
  ProbeSortedList(list.data(), list.count(), fps.data(), fps.size(), hits.data(), &scratch);
  return hits;
}

TEST(ProbeSortedList, EmptyListsHoldNothing) {
  const Packed none({});
  EXPECT_EQ(Probe(none, {0, 1, kFingerprintMask}), (std::vector<uint8_t>{0, 0, 0}));
  EXPECT_TRUE(Probe(Packed({5}), {}).empty());
  EXPECT_FALSE(ContainsSorted(nullptr, 0, 7));
}

TEST(ProbeSortedList, OneEntry) {
  for (const Fingerprint fp : {Fingerprint{0}, Fingerprint{7}, kFingerprintMask}) {
    const Packed list({fp});
    EXPECT_EQ(Probe(list, {0, 7, kFingerprintMask, 8}),
              (std::vector<uint8_t>{fp == 0, fp == 7, fp == kFingerprintMask, 0}));
  }
}

TEST(ProbeSortedList, EndsAndNeighbours) {
  const std::vector<Fingerprint> fps = {0, 1, 2, 1000, kFingerprintMask - 1, kFingerprintMask};
  const Packed list(fps);
  EXPECT_EQ(Probe(list, fps), std::vector<uint8_t>(fps.size(), 1));
  EXPECT_EQ(Probe(list, {3, 999, 1001, kFingerprintMask - 2, 1ULL << 47}),
            std::vector<uint8_t>(5, 0));
  for (const Fingerprint fp : fps) EXPECT_TRUE(ContainsSorted(list.data(), list.count(), fp));
  EXPECT_FALSE(ContainsSorted(list.data(), list.count(), 3));
}

TEST(ProbeSortedList, CrowdedListsAreRight) {
  // All entries in one run of top bits: at the bottom, at the top, and in two clumps.
  std::vector<std::vector<Fingerprint>> lists(3);
  for (uint64_t i = 0; i < 5'000; ++i) {
    lists[0].push_back(i * 2);
    lists[1].push_back(kFingerprintMask - (4'999 - i) * 2);
    lists[2].push_back(i < 2'500 ? i * 2 : kFingerprintMask - (4'999 - i) * 2);
  }
  for (const auto& fps : lists) {
    const Packed list(fps);
    EXPECT_EQ(Probe(list, fps), std::vector<uint8_t>(fps.size(), 1));
    std::vector<Fingerprint> between;
    for (const Fingerprint fp : fps) between.push_back(fp ^ 1);
    EXPECT_EQ(Probe(list, between), std::vector<uint8_t>(fps.size(), 0));
    for (size_t i = 0; i < fps.size(); i += 37) {
      EXPECT_TRUE(ContainsSorted(list.data(), list.count(), fps[i]));
      EXPECT_FALSE(ContainsSorted(list.data(), list.count(), between[i]));
    }
  }
}

TEST(ProbeSortedList, AFewCandidatesInALongList) {
  std::vector<Fingerprint> fps;
  for (uint64_t i = 0; i < 60'000; ++i) fps.push_back(i * (kFingerprintMask / 60'000));
  const Packed list(fps);
  EXPECT_EQ(Probe(list, {fps[0], fps[1] + 1, fps[30'000], fps.back(), fps.back() + 1}),
            (std::vector<uint8_t>{1, 0, 1, 1, 0}));
}

TEST(ProbeSortedList, ScratchIsReusedAcrossLists) {
  ProbeScratch scratch;
  std::vector<Fingerprint> long_list;
  for (uint64_t i = 0; i < 10'000; ++i) long_list.push_back(i << 30);
  const Packed first(long_list);
  const Packed second({5ULL << 30, 77});
  const Packed sorted_second({77, 5ULL << 30});
  uint8_t hits[3];
  const Fingerprint fps[3] = {77, 5ULL << 30, 6ULL << 30};
  ProbeSet(first.data(), first.count(), &scratch).Probe(fps, 3, hits);
  EXPECT_EQ(std::vector<uint8_t>(hits, hits + 3), (std::vector<uint8_t>{0, 1, 1}));
  ProbeSet(sorted_second.data(), 2, &scratch).Probe(fps, 3, hits);
  EXPECT_EQ(std::vector<uint8_t>(hits, hits + 3), (std::vector<uint8_t>{1, 1, 0}));
}

TEST(ProbeSortedList, ListsOutOfOrderAreReadWithinTheirBounds) {
  std::vector<Fingerprint> fps;
  for (uint64_t i = 0; i < 3'000; ++i) fps.push_back((i * 0x9E37'79B9'7F4A'7C15ULL) >> 16);
  std::vector<Fingerprint> falling = fps;
  std::sort(falling.rbegin(), falling.rend());
  for (const auto& list_fps : {fps, falling, std::vector<Fingerprint>(3'000, 42)}) {
    const Packed list(list_fps);
    for (const uint8_t hit : Probe(list, fps)) EXPECT_LE(hit, 1);
    for (const Fingerprint fp : fps) {
      static_cast<void>(ContainsSorted(list.data(), list.count(), fp));
    }
  }
}

TEST(ProbeSortedList, CandidatesBeyond48BitsStayInBounds) {
  std::vector<Fingerprint> fps;
  for (uint64_t i = 0; i < 100; ++i) fps.push_back(i << 40);
  const Packed list(fps);
  const std::vector<Fingerprint> wild(50, ~uint64_t{0});
  for (const uint8_t hit : Probe(list, wild)) EXPECT_LE(hit, 1);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
