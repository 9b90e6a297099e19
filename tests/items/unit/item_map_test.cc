#include "items/item_map.h"

#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

std::set<uint32_t> NumbersOf(const ItemMap& map, uint64_t hash) {
  std::set<uint32_t> numbers;
  ItemMap::Place place = map.Begin(hash);
  while (const uint32_t number = ItemMap::Next(&place)) numbers.insert(number);
  return numbers;
}

TEST(ItemMap, FindsWhatIsInItThroughGrowthAndRemoval) {
  std::mt19937_64 random(test::Seed());
  std::vector<uint64_t> hashes(50'001);
  for (uint64_t& hash : hashes) hash = random();
  Epochs epochs;
  ItemMap map(&epochs, [&](uint32_t number) { return hashes[number]; });
  for (uint32_t i = 1; i < hashes.size(); ++i) map.Insert(hashes[i], i);
  for (uint32_t i = 2; i < hashes.size(); i += 2) map.Remove(hashes[i], i);
  for (uint32_t i = 1; i < hashes.size(); ++i) {
    ASSERT_EQ(NumbersOf(map, hashes[i]).contains(i), i % 2 == 1) << i;
  }
  epochs.Collect();
  const uint64_t bytes = map.bytes();
  for (int turn = 0; turn < 20; ++turn) {  // removed ones make room again
    for (uint32_t i = 2; i < hashes.size(); i += 2) map.Insert(hashes[i], i);
    for (uint32_t i = 2; i < hashes.size(); i += 2) map.Remove(hashes[i], i);
  }
  epochs.Collect();
  EXPECT_LE(map.bytes(), bytes * 2);
}

TEST(ItemMap, GivesAllNumbersOfOneHash) {
  Epochs epochs;
  ItemMap map(&epochs, [](uint32_t) { return uint64_t{77}; });
  for (uint32_t number = 1; number <= 100; ++number) map.Insert(77, number);
  EXPECT_EQ(NumbersOf(map, 77).size(), 100u);
  map.Remove(77, 50);
  EXPECT_EQ(NumbersOf(map, 77).size(), 99u);
  EXPECT_TRUE(NumbersOf(map, 78).empty());
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
