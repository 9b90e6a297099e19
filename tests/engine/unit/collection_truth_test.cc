// Which collection has a name, where the file COLLECTIONS and the shards say different things.

#include "collection_truth.h"

#include <vector>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

Policy Window(uint32_t window) {
  Policy policy;
  policy.window = window;
  return policy;
}
CollectionClaim Claims(uint64_t making, uint64_t revision, uint32_t window, bool changed = false) {
  return {making, false, Window(window), revision, changed};
}
CollectionClaim Gone(uint64_t making) { return {making, false, {}, 0, false}; }

// The window that holds; 0: the collection is gone.
uint32_t Settled(const CollectionRecord* filed, const std::vector<CollectionClaim>& claims) {
  const CollectionRecord record = SettleCollection(filed, claims);
  return record.policy ? record.policy->window : 0;
}

TEST(CollectionTruthTest, TheFileIsBelievedWhereShardsSayTheSameOrLess) {
  const CollectionRecord filed{0, 3, Window(2)};
  EXPECT_EQ(SettleCollection(&filed, {}), filed);
  const CollectionClaim behind = Claims(0, 2, 4), same = Claims(0, 3, 5), none = Gone(0);
  for (const CollectionClaim& claim : {behind, same, none}) {
    EXPECT_EQ(SettleCollection(&filed, {&claim, 1}), filed);
  }
}

// A crash between the shards' writes and the file's.
TEST(CollectionTruthTest, AHigherRevisionInAShardIsBelieved) {
  const CollectionRecord filed{0, 3, Window(2)};
  const std::vector<CollectionClaim> claims{Claims(0, 3, 2), Claims(0, 4, 6), Claims(0, 3, 2)};
  const CollectionRecord settled = SettleCollection(&filed, claims);
  EXPECT_EQ(settled.policy->window, 6U);
  EXPECT_EQ(settled.revision, 4U);
}

TEST(CollectionTruthTest, WhatOlderSoftwareChangedIsBelieved) {
  const CollectionRecord filed{0, 3, Window(2)};
  const std::vector<CollectionClaim> claims{Claims(0, 9, 7), Claims(0, 3, 5, true)};
  const CollectionRecord settled = SettleCollection(&filed, claims);
  EXPECT_EQ(settled.policy->window, 5U);
  EXPECT_EQ(settled.revision, 10U);  // above every other
}

// Of a database of before: no file, no marks.
TEST(CollectionTruthTest, WithoutMarksTheLowestShardIsBelieved) {
  const std::vector<CollectionClaim> claims{Claims(0, 0, 3), Claims(0, 0, 4)};
  const CollectionRecord settled = SettleCollection(nullptr, claims);
  EXPECT_EQ(settled.policy->window, 3U);
  EXPECT_EQ(settled.revision, 1U);
}

// A shard that was repaired has lost its mark.
TEST(CollectionTruthTest, ACopyWithoutAMarkIsNotBelievedOverTheFile) {
  const CollectionRecord filed{0, 3, Window(2)};
  EXPECT_EQ(Settled(&filed, {Claims(0, 0, 5)}), 2U);
}

TEST(CollectionTruthTest, TheHighestMakingIsBelieved) {
  const CollectionRecord filed{1, 3, Window(2)};
  EXPECT_EQ(Settled(&filed, {Claims(0, 9, 5, true)}), 2U);           // a former one
  EXPECT_EQ(Settled(&filed, {Gone(2), Claims(1, 3, 2)}), 0U);        // deleted since
  EXPECT_EQ(Settled(&filed, {Gone(2), Claims(2, 1, 4)}), 4U);        // and made again
  EXPECT_EQ(Settled(&filed, {{2, true, Window(2), 3, false}}), 0U);  // being deleted
  const CollectionRecord deleted{2, 4, {}};
  EXPECT_EQ(Settled(&deleted, {Claims(1, 3, 2)}), 0U);
  EXPECT_EQ(Settled(&deleted, {Gone(2)}), 0U);
  EXPECT_EQ(Settled(&deleted, {Claims(2, 5, 6)}), 6U);
  EXPECT_EQ(SettleCollection(&deleted, {}).making, 2U);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
