// A packed list answers as a set of its entries does, whatever its shape; bytes in disorder never
// make it read outside (the sanitizers see to that) nor search for long.

#include "filter/probe_set.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

struct Packed {
  explicit Packed(const std::vector<Fingerprint>& fps)
      : count(fps.size()), bytes(new uint8_t[fps.size() * kFingerprintBytes]) {
    for (size_t i = 0; i < count; ++i) StoreFingerprint(fps[i], &bytes[i * kFingerprintBytes]);
  }
  size_t count;
  std::unique_ptr<uint8_t[]> bytes;
};

/// Uniform, or crowded into a few places.
Fingerprint AnyFingerprint(std::mt19937_64* random, int shape) {
  const uint64_t uniform = (*random)() & kFingerprintMask;
  switch (shape) {
    case 1:
      return uniform & 0xFFFF;
    case 2:
      return kFingerprintMask - (uniform & 0xFFFFF);
    case 3:
      return (uniform & 0xF000'0000'0FFF);
    case 4:
      return uniform >> (uniform % 48);
    default:
      return uniform;
  }
}

TEST(FilterProbeSet, AnswersAsASetDoes) {
  std::mt19937_64 random(test::Seed());
  ProbeScratch scratch;
  for (int round = 0; round < 300; ++round) {
    const int shape = round % 5;
    const size_t size = random() % (uint64_t{1} << (1 + random() % 16));
    std::set<Fingerprint> set;
    for (size_t i = 0; i < size; ++i) set.insert(AnyFingerprint(&random, shape));
    const std::vector<Fingerprint> sorted(set.begin(), set.end());
    const Packed list(sorted);

    std::vector<Fingerprint> candidates;
    const size_t asked = random() % 5'000;
    for (size_t i = 0; i < asked; ++i) {
      const bool present = !sorted.empty() && random() % 2 == 0;
      candidates.push_back(present ? sorted[random() % sorted.size()]
                                   : AnyFingerprint(&random, shape));
    }
    std::vector<uint8_t> hits(asked, 0xEE);
    ProbeSortedList(list.bytes.get(), list.count, candidates.data(), asked, hits.data(), &scratch);
    std::vector<uint8_t> hits_of_set(asked, 0xEE);
    ProbeSet(list.bytes.get(), list.count, &scratch)
        .Probe(candidates.data(), asked, hits_of_set.data());
    for (size_t i = 0; i < asked; ++i) {
      const uint8_t expected = set.count(candidates[i]) != 0 ? 1 : 0;
      ASSERT_EQ(hits[i], expected) << "shape " << shape << " entry " << candidates[i];
      ASSERT_EQ(hits_of_set[i], expected) << "shape " << shape << " entry " << candidates[i];
      ASSERT_EQ(ContainsSorted(list.bytes.get(), list.count, candidates[i]), expected == 1);
    }
  }
}

TEST(FilterProbeSet, ArbitraryBytesAreSafe) {
  std::mt19937_64 random(test::Seed());
  ProbeScratch scratch;
  for (int round = 0; round < 300; ++round) {
    std::vector<Fingerprint> disorder(random() % 3'000);
    for (Fingerprint& fp : disorder) fp = AnyFingerprint(&random, static_cast<int>(random() % 5));
    if (round % 3 == 0) std::sort(disorder.rbegin(), disorder.rend());
    const Packed list(disorder);
    std::vector<Fingerprint> candidates(random() % 3'000);
    for (Fingerprint& fp : candidates) fp = random() >> (random() % 48);
    std::vector<uint8_t> hits(candidates.size(), 0xEE);
    ProbeSortedList(list.bytes.get(), list.count, candidates.data(), candidates.size(), hits.data(),
                    &scratch);
    // Wrong answers are allowed on such a list, invented ones are not.
    const std::set<Fingerprint> entries(disorder.begin(), disorder.end());
    for (size_t i = 0; i < candidates.size(); ++i) {
      ASSERT_LE(hits[i], 1);
      if (hits[i] == 1) {
        ASSERT_EQ(entries.count(candidates[i] & kFingerprintMask), 1U);
      }
    }
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
