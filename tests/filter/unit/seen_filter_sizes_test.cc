// How large layers are made: for what is still to come, and at the seal for what came.

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "filter/block_bloom.h"
#include "filter/seen_filter.h"
#include "filter/sizing.h"
#include "support/merge_bench.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr size_t kItems = 20'000;

FilterRules Rules() {
  FilterRules rules;
  rules.fpr = 0.0025;
  rules.list_limit = 4096;
  rules.bytes_max = 1 << 20;
  rules.end_ms = 1'000'000;
  return rules;
}

bool AllIn(const SeenFilter& filter, const std::vector<Fingerprint>& items) {
  return std::all_of(items.begin(), items.end(),
                     [&](Fingerprint fp) { return filter.Contains(fp); });
}

TEST(SeenFilterSizes, ItemsThatComeWithTheSealGetALayerOfTheirSize) {
  std::mt19937_64 random(test::Seed());
  const FilterRules rules = Rules();
  const std::vector<Fingerprint> listed = RandomFingerprints(random, 1'000);
  const std::vector<Fingerprint> last = RandomFingerprints(random, kItems);
  SeenFilter filter;
  filter.as_of_ms = rules.end_ms / 2;  // as much again would be expected
  filter.Add(listed, rules);
  filter.SealWith(last, rules);
  EXPECT_TRUE(filter.sealed);
  EXPECT_TRUE(AllIn(filter, listed) && AllIn(filter, last));
  const uint64_t least = BlocksFor(kItems + listed.size(), rules.fpr) * kBlockBytes;
  EXPECT_LE(filter.Bytes(), least + least / 50);
}

TEST(SeenFilterSizes, NoRoomIsLeftForItemsThatCanNotCome) {
  std::mt19937_64 random(test::Seed());
  const FilterRules rules = Rules();
  const std::vector<Fingerprint> items = RandomFingerprints(random, kItems);
  SeenFilter filter;
  filter.as_of_ms = rules.end_ms;
  filter.Add(items, rules);
  ASSERT_EQ(filter.layers.size(), 1u);
  // A layer takes a share of the rate, so that a successor finds some.
  const uint64_t least = BlocksFor(kItems + kItems / 10, rules.fpr / 2) * kBlockBytes;
  EXPECT_LE(filter.Bytes(), least);
}

TEST(SeenFilterSizes, ASteadyUserNeedsOneLayer) {
  std::mt19937_64 random(test::Seed());
  const FilterRules rules = Rules();
  SeenFilter filter;
  for (int tenth = 1; tenth <= 10; ++tenth) {
    filter.as_of_ms = rules.end_ms / 10 * tenth;
    filter.Add(RandomFingerprints(random, kItems / 10), rules);
  }
  EXPECT_EQ(filter.layers.size(), 1u);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
