// The ends of what a seen filter's rules and bytes may say.

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "filter/seen_filter.h"
#include "support/merge_bench.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

// A rate so low that a list is smaller than any Bloom layer.
FilterRules ListsAreSmaller() {
  FilterRules rules;
  rules.fpr = 1e-8;
  rules.list_limit = 64;
  rules.bytes_max = 6000;
  rules.end_ms = 1'000'000;
  return rules;
}

TEST(SeenFilterLimits, ASealedListThatIsTheSmallerEncodingKeepsTheCeiling) {
  std::mt19937_64 random(test::Seed());
  const FilterRules rules = ListsAreSmaller();
  SeenFilter filter;
  filter.Seal(rules);
  for (int step = 0; step < 60; ++step) {
    const std::vector<Fingerprint> late = RandomFingerprints(random, 50);
    filter.Add(late, rules);
    ASSERT_LE(filter.Bytes(), rules.bytes_max) << "step " << step;
  }
  EXPECT_GT(filter.dropped_layers, 0u);
  EXPECT_GE(filter.Items(), 400u) << "little of the room is used";
  for (const Layer& layer : filter.layers) EXPECT_EQ(layer.blocks, 0u);
}

TEST(SeenFilterLimits, ASealedListBelowTheCeilingIsLeftAlone) {
  std::mt19937_64 random(test::Seed());
  const FilterRules rules = ListsAreSmaller();
  const std::vector<Fingerprint> items = RandomFingerprints(random, 60);
  SeenFilter filter;
  filter.Add(items, rules);
  filter.Seal(rules);
  EXPECT_EQ(filter.list, items);
  EXPECT_FALSE(filter.WantsSeal(rules));
}

// A frozen list whose bytes are a subset, bit by bit, of another's holds other items all the same.
TEST(SeenFilterLimits, FrozenListsAreNeverMistakenForBits) {
  const auto frozen = [](Fingerprint fp) {
    Layer layer;
    layer.items = layer.capacity = 1;
    layer.bits.resize(kFingerprintBytes);
    StoreFingerprint(fp, reinterpret_cast<uint8_t*>(layer.bits.data()));
    return layer;
  };
  FilterRules rules;
  rules.exact = true;
  SeenFilter filter;
  filter.AddLayers({frozen(0b0111)}, rules);
  filter.AddLayers({frozen(0b0101)}, rules);
  filter.AddLayers({frozen(0b0101)}, rules);
  EXPECT_TRUE(filter.Contains(0b0111));
  EXPECT_TRUE(filter.Contains(0b0101));
  EXPECT_EQ(filter.layers.size(), 2u);
}

// Times come from stored bytes: whatever they say, a projection is a number.
TEST(SeenFilterLimits, AnyTimeProjectsWithoutOverflow) {
  std::mt19937_64 random(test::Seed());
  const std::vector<Fingerprint> items = RandomFingerprints(random, 500);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const int64_t as_of_ms : {kMin, int64_t{-1}, int64_t{0}, kMax}) {
    for (const int64_t begin_ms : {int64_t{-1'000'000}, int64_t{0}, int64_t{1'000'000}}) {
      FilterRules rules;
      rules.list_limit = 64;
      rules.begin_ms = begin_ms;
      rules.end_ms = begin_ms + 1'000'000;
      SeenFilter filter;
      filter.as_of_ms = as_of_ms;
      filter.Add(items, rules);
      EXPECT_LE(filter.Bytes(), rules.bytes_max);
      for (const Fingerprint fp : items) ASSERT_TRUE(filter.Contains(fp));
    }
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
