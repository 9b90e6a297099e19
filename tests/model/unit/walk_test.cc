#include "model/run/walk.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "model/effects.h"
#include "model/run/play.h"
#include "model/run/world.h"

namespace seendb::model::SEENDB_TEST_FILE {
namespace {

Walked WalkFor(const Scope& scope, const Table& table, double seconds) {
  Explorer explorer{EngineModel(scope, table)};
  explorer.Explore({.transitions = 20'000});
  WalkLimits limits;
  limits.end = std::chrono::steady_clock::now() +
               std::chrono::milliseconds(static_cast<int64_t>(seconds * 1'000));
  limits.seed = 1;
  return Walk(explorer, limits);
}

TEST(WalkTest, AScriptIsReadAsItIsWritten) {
  const std::vector<Action> script = {{Kind::kPlay, 0, 1, 1}, {Kind::kRotate}};
  EXPECT_EQ(Text(script), "play c0 u1 i1; rotate s0");
  EXPECT_EQ(ReadScript(Text(script)), script);
  EXPECT_FALSE(ReadScript("play c0 u7"));
  EXPECT_FALSE(ReadScript("jump over"));
}

TEST(WalkTest, TheEngineDoesWhatTheModelDoes) {
  const Scope& scope = *FindScope("failures");
  const Walked walked = WalkFor(scope, Actions(), 1);
  EXPECT_EQ(walked.difference, "") << Text(walked.script);
  EXPECT_EQ(walked.kinds, scope.actions);
  EXPECT_GE(walked.transitions, 20U);
}

TEST(WalkTest, TakesEveryTransition) {
  constexpr Scope kTiny{.name = "tiny",
                        .what = "",
                        .actions = Of(Kind::kPlay, Kind::kRotate, Kind::kBeginDrain,
                                      Kind::kEndDrain, Kind::kSync, Kind::kCrash)};
  Explorer explorer{EngineModel(kTiny)};
  explorer.Explore();
  WalkLimits limits;
  limits.end = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  const Walked walked = Walk(explorer, limits);
  EXPECT_EQ(walked.difference, "") << Text(walked.script);
  EXPECT_EQ(walked.transitions, explorer.transitions());
  EXPECT_GT(walked.transitions, 20U);
}

// A model in which an erasure leaves plays that are staged: the engine does not do that.
bool ErasesTooLittle(Step* step) {
  Shard& shard = step->OfUser();
  const Disk before = shard.disk;
  if (!Actions()[static_cast<size_t>(Kind::kErase)].Do(step)) return false;
  for (int slot = 0; slot < kSlots; ++slot) shard.disk.journal[slot] = before.journal[slot];
  return true;
}

TEST(WalkTest, ADifferenceIsShownByAShortestScript) {
  const Scope& scope = *FindScope("failures");
  Table table = Actions();
  table[static_cast<size_t>(Kind::kErase)].Do = ErasesTooLittle;
  const EngineModel model(scope, table);
  const auto disk = NewDisk(scope);
  const auto script = ReadScript("play c0 u0 i0; sync; play c0 u0 i1; rotate s0; erase u0; sync");
  ASSERT_TRUE(script);
  std::vector<Action> played;
  EXPECT_NE(Play(model, disk.get(), *script, &played), "");
  EXPECT_EQ(Text(Shortened(model, disk.get(), *script)), "play c0 u0 i1; erase u0");
}

}  // namespace
}  // namespace seendb::model::SEENDB_TEST_FILE
