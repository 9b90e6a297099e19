// The rules of versions, one by one. That they hold in any order: property/join_test.cc.

#include <gtest/gtest.h>

#include "items/item_testing.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

State Joined(State into, const State& other) {
  into.Join(other);
  return into;
}

TEST(ItemState, TheHigherVersionWins) {
  State state = UpdateOf(7, {SetCell(1, 7, I64Of(70))});
  EXPECT_EQ(state.Join(UpdateOf(5, {SetCell(1, 5, I64Of(50)), SetCell(2, 5, I64Of(51))})), 1u);
  ASSERT_EQ(state.cells.size(), 2u);
  EXPECT_EQ(state.cells[0], SetCell(1, 7, I64Of(70)));
  EXPECT_EQ(state.cells[1], SetCell(2, 5, I64Of(51)));  // an older update of another field counts
  EXPECT_EQ(state.seen, 7u);
}

TEST(ItemState, EqualVersionsAreSettledByTheLargerValueUnsetBeingTheSmallest) {
  const auto kept = [](Cell a, Cell b) {
    const State one = Joined(UpdateOf(7, {a}), UpdateOf(7, {b}));
    EXPECT_EQ(one, Joined(UpdateOf(7, {b}), UpdateOf(7, {a})));
    return one.cells.at(0);
  };
  const auto set = [](Value value) { return SetCell(1, 7, value); };
  EXPECT_EQ(kept(set(I64Of(255)), set(I64Of(256))), set(I64Of(256)));
  EXPECT_EQ(kept(set(I64Of(-1)), set(I64Of(0))), set(I64Of(0)));
  EXPECT_EQ(kept(set(F32Of(-2.0F)), set(F32Of(-1.0F))), set(F32Of(-1.0F)));
  EXPECT_EQ(kept(set(TextOf("a")), set(TextOf("ab"))), set(TextOf("ab")));
  EXPECT_EQ(kept(set(TextOf("")), UnsetCell(1, 7)), set(TextOf("")));
  EXPECT_EQ(kept(set(BoolOf(true)), set(BoolOf(false))), set(BoolOf(true)));
}

TEST(ItemState, AnUnsetFieldStaysUnsetAgainstLowerVersions) {
  State state = UpdateOf(7, {UnsetCell(1, 7)});
  EXPECT_EQ(state.Join(UpdateOf(6, {SetCell(1, 6, I64Of(1))})), 1u);
  EXPECT_TRUE(state.cells.at(0).unset);
  EXPECT_EQ(state.Join(UpdateOf(8, {SetCell(1, 8, I64Of(1))})), 0u);
  EXPECT_FALSE(state.cells.at(0).unset);
}

TEST(ItemState, ADeletionHidesTheItemUntilSomethingAsNew) {
  State state = UpdateOf(5, {SetCell(1, 5, I64Of(1))});
  state.Join(DeletionOf(7));
  EXPECT_FALSE(state.exists());
  EXPECT_TRUE(state.cells.empty());
  EXPECT_EQ(state.Join(UpdateOf(6, {SetCell(1, 6, I64Of(1))})), 1u);
  EXPECT_FALSE(state.exists());
  EXPECT_EQ(state.Join(UpdateOf(7, {SetCell(2, 7, I64Of(2))})), 0u);
  EXPECT_TRUE(state.exists());
  EXPECT_EQ(state.cells, std::vector<Cell>{SetCell(2, 7, I64Of(2))});
  EXPECT_EQ(state.Join(DeletionOf(6)), 1u);
  EXPECT_TRUE(state.exists());
}

TEST(ItemState, AReplacementKeepsFieldsOfItsOwnVersionAndAbove) {
  State state = UpdateOf(6, {SetCell(1, 6, I64Of(1)), SetCell(2, 6, I64Of(2))});
  State replacement = UpdateOf(7, {SetCell(3, 7, I64Of(3))});
  replacement.floor = 7;
  state.Join(UpdateOf(9, {SetCell(2, 9, I64Of(9))}));
  state.Join(replacement);
  EXPECT_EQ(state.cells, (std::vector<Cell>{SetCell(2, 9, I64Of(9)), SetCell(3, 7, I64Of(3))}));
}

TEST(ItemState, ExpiryIsVersionedAsAField) {
  State never = UpdateOf(9, {}), at_100 = UpdateOf(7, {}), same = UpdateOf(7, {});
  never.expires_version = 9;
  at_100.expires_version = same.expires_version = 7;
  at_100.expires_ms = 100;
  EXPECT_EQ(Joined(at_100, never).expires_ms, 0u);
  EXPECT_EQ(Joined(never, at_100), Joined(at_100, never));
  EXPECT_EQ(Joined(same, at_100).expires_ms,
            100u);  // equal versions: the larger, unset is smallest
  State replaced = UpdateOf(8, {});
  replaced.floor = 8;
  EXPECT_EQ(Joined(at_100, replaced).expires_version, 0u);
}

// The fields of an expired item do not come back with its next life.
TEST(ItemState, WhatExpiredStaysGone) {
  State state = UpdateOf(5, {SetCell(1, 5, I64Of(1))});
  state.expires_version = 5;
  state.expires_ms = 100;
  State update = UpdateOf(9, {SetCell(2, 9, I64Of(2))});
  update.expires_version = 9;
  update.expires_ms = 500;

  State early = update, stays = state;
  EXPECT_EQ(ApplyExpiry(state, 99, &early), 0u);
  stays.Join(early);
  EXPECT_EQ(stays.cells.size(), 2u);  // its life was made longer in time

  EXPECT_EQ(ApplyExpiry(state, 100, &update), 0u);
  state.Join(update);
  EXPECT_EQ(state.cells, std::vector<Cell>{SetCell(2, 9, I64Of(2))});
  EXPECT_TRUE(state.exists());
  EXPECT_FALSE(state.IsExpired(499));
  EXPECT_TRUE(state.IsExpired(500));
}

TEST(ItemState, WhatArrivesForAnExpiredItemIsGoneUpToThatVersion) {
  State state = UpdateOf(5, {});
  state.expires_version = 5;
  state.expires_ms = 100;
  State update = UpdateOf(5, {SetCell(1, 5, I64Of(1))});
  EXPECT_EQ(ApplyExpiry(state, 100, &update), 1u);
  EXPECT_TRUE(update.cells.empty());
  State newer = UpdateOf(6, {SetCell(1, 6, I64Of(1))});
  EXPECT_EQ(ApplyExpiry(state, 100, &newer), 0u);
}

// A repeat of an update that has expired meanwhile changes nothing of what came after it.
TEST(ItemState, ARepeatOfSomethingExpiredChangesNothing) {
  State first = UpdateOf(5, {SetCell(1, 5, I64Of(1))});
  first.expires_version = 5;
  first.expires_ms = 100;
  State state = first;
  State longer = UpdateOf(9, {});
  longer.expires_version = 9;
  ApplyExpiry(state, 50, &longer);
  state.Join(longer);
  const State before = state;
  State repeat = first;
  EXPECT_EQ(ApplyExpiry(state, 200, &repeat), 1u);
  state.Join(repeat);
  EXPECT_EQ(state, before);
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
