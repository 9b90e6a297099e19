#include "filter/sort.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

void ExpectLikeStd(std::vector<Fingerprint> items) {
  std::vector<Fingerprint> expected = items;
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  SortUnique(&items);
  EXPECT_EQ(items, expected);
}

TEST(SortUnique, AgreesWithStdSortOnUniformItemsOfAnyNumber) {
  std::mt19937_64 random(7);
  for (const size_t count : {0U, 1U, 2U, 63U, 64U, 65U, 1'000U, 4'096U, 70'000U, 300'000U}) {
    std::vector<Fingerprint> items(count);
    for (Fingerprint& fp : items) fp = random() & kFingerprintMask;
    ExpectLikeStd(items);
    items.insert(items.end(), items.begin(), items.begin() + static_cast<int64_t>(count / 2));
    ExpectLikeStd(items);
  }
}

TEST(SortUnique, AgreesWithStdSortOnCrowdsAndRuns) {
  std::vector<Fingerprint> crowd, equal(5'000, 42), descending;
  for (uint64_t i = 0; i < 5'000; ++i) {
    crowd.push_back((i * 7'919) % 5'000);
    descending.push_back(kFingerprintMask - i * 1'000'003);
  }
  ExpectLikeStd(crowd);
  ExpectLikeStd(equal);
  ExpectLikeStd(descending);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
