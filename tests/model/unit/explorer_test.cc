#include "model/explorer.h"

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "model/action.h"
#include "model/effects.h"
#include "model/invariants.h"

namespace seendb::model::SEENDB_TEST_FILE {
namespace {

// Two counters that are alike, each from 0 to `most`.
class Counters {
 public:
  struct State {
    int of[2];
  };
  struct Action {
    int counter;
  };
  struct Names {
    bool exchanged = false;
  };
  explicit Counters(int most, int bad = -1) : most_(most), bad_(bad) {}
  State Initial() const { return {{0, 0}}; }
  State Canonical(const State& state, Names* names = nullptr) const {
    const bool exchanged = state.of[0] > state.of[1];
    if (names != nullptr) names->exchanged = exchanged;
    return exchanged ? State{{state.of[1], state.of[0]}} : state;
  }
  Action Renamed(const Action& action, const Names& names) const {
    return {names.exchanged ? 1 - action.counter : action.counter};
  }
  bool Do(const Action& action, State* state) const { return ++state->of[action.counter] <= most_; }
  template <typename Visit>
  void ForEach(const State& state, const Visit& visit) const {
    for (const int counter : {0, 1}) {
      State after = state;
      if (Do({counter}, &after)) visit(Action{counter}, after);
    }
  }
  std::string_view Violated(const State& state) const {
    return state.of[0] + state.of[1] == bad_ ? "the sum is not bad" : "";
  }

 private:
  int most_, bad_;
};

TEST(ExplorerTest, CountsStatesAndTransitions) {
  Explorer explorer{Counters(2)};
  explorer.Explore();
  EXPECT_TRUE(explorer.whole());
  EXPECT_EQ(explorer.states().size(), 6U);  // pairs of 0, 1, 2 without an order
  EXPECT_EQ(explorer.transitions(), 8U);    // two where both are below 2, one where one is 2
}

TEST(ExplorerTest, EndsAtItsLimit) {
  Explorer explorer{Counters(100)};
  explorer.Explore({.transitions = 50});
  EXPECT_FALSE(explorer.whole());
  EXPECT_GE(explorer.transitions(), 50U);
  EXPECT_LE(explorer.transitions(), 51U);
}

TEST(ExplorerTest, TellsAShortestWayToAViolation) {
  Explorer explorer{Counters(9, 4)};
  explorer.Explore();
  ASSERT_TRUE(explorer.violation());
  EXPECT_EQ(explorer.violation()->invariant, "the sum is not bad");
  EXPECT_EQ(explorer.Script(explorer.violation()->state).size(), 4U);
}

// ---- The engine's model ----

constexpr uint64_t kFew = Of(Kind::kPlay, Kind::kErase, Kind::kSync, Kind::kPowerCut, Kind::kRotate,
                             Kind::kBeginDrain, Kind::kEndDrain);
constexpr Scope kSmall{.name = "small", .what = "", .actions = kFew};

TEST(ModelTest, EveryActionIsInAScope) {
  uint64_t in = 0;
  for (const Scope& scope : Scopes()) in |= scope.actions;
  for (const Row& row : Actions()) EXPECT_NE(in & Of(row.kind), 0U) << row.name;
}

TEST(ModelTest, EveryActionOfAScopeIsPossibleInIt) {
  for (const Scope& scope : Scopes()) {
    Explorer explorer{EngineModel(scope)};
    explorer.Explore({.transitions = 200'000});
    EXPECT_FALSE(explorer.violation()) << scope.name;
    uint64_t done = 0;
    for (size_t at = 0; at < explorer.transitions(); ++at) done |= Of(explorer.At(at).action.kind);
    EXPECT_EQ(done, scope.actions) << scope.name;
  }
}

// A drain that gives up the journal before the log is synced.
bool EndDrainWithoutSync(Step* step) {
  Shard& shard = step->OfShard();
  const int slot = Draining(step->scope, shard);
  if (slot < 0) return false;
  for (Disk* disk : {&shard.disk, &shard.safe}) {
    disk->journal[slot] = disk->journal_entries[slot] = 0;
    disk->records = static_cast<uint8_t>(disk->records & ~(1 << slot));
  }
  shard.phase[slot] = Phase::kDrained;
  shard.order[slot] = 0;
  if (CurrentSlot(step->scope, shard) < 0) OpenNext(step->scope, &shard);
  return true;
}

TEST(ModelTest, FindsADrainThatDoesNotSync) {
  Table table = Actions();
  table[static_cast<size_t>(Kind::kEndDrain)].Do = EndDrainWithoutSync;
  Explorer explorer{EngineModel(kSmall, table)};
  explorer.Explore();
  ASSERT_TRUE(explorer.violation());
  std::vector<std::string> script;
  for (const Action& action : explorer.Script(explorer.violation()->state)) {
    script.push_back(Text(action));
  }
  EXPECT_EQ(script, (std::vector<std::string>{"play c0 u0 i0", "rotate s0", "sync",
                                              "begin-drain s0", "end-drain s0"}));
}

// An erasure that leaves what is staged.
bool EraseOfTablesAlone(Step* step) {
  Shard& shard = step->OfUser();
  Release(&shard.promise, OfUser(step->action.user));
  shard.disk.merged &= ~OfUser(step->action.user);
  Sync(&shard);
  return true;
}

TEST(ModelTest, FindsAnErasureThatForgetsTheRing) {
  Table table = Actions();
  table[static_cast<size_t>(Kind::kErase)].Do = EraseOfTablesAlone;
  Explorer explorer{EngineModel(kSmall, table)};
  explorer.Explore();
  ASSERT_TRUE(explorer.violation());
  EXPECT_EQ(explorer.violation()->invariant, "What was erased, cleared or deleted is not answered");
  EXPECT_EQ(explorer.Script(explorer.violation()->state).size(), 2U);
}

// ---- Symmetry ----

// Names are no part of the model: an action under other names leads to the same state under them.
TEST(ModelTest, RenamingCommutesWithEveryAction) {
  for (const Scope& scope : Scopes()) {
    if (!HasSymmetry(scope)) continue;
    const EngineModel model(scope);
    Explorer explorer{model};
    explorer.Explore({.transitions = 20'000});
    for (uint32_t at = 0; at < explorer.expanded(); ++at) {
      for (size_t i = explorer.Begin(at); i < explorer.End(at); ++i) {
        const Names names{scope.users == 2, scope.items == 2};
        State state = Renamed(scope, explorer.states()[at], names);
        const Action& action = explorer.At(i).action;
        ASSERT_TRUE(model.Do(Renamed(scope, action, names), &state)) << Text(action);
        const State canonical = model.Canonical(state);
        ASSERT_EQ(explorer.Find(canonical), explorer.At(i).to) << scope.name << " " << Text(action);
      }
    }
  }
}

// Without names that are alike: every state is its own.
class EveryName : public EngineModel {
 public:
  using EngineModel::EngineModel;
  State Canonical(const State& state, Names* names = nullptr) const {
    if (names != nullptr) *names = {};
    return state;
  }
};

TEST(ModelTest, SymmetryLosesNoTransition) {
  constexpr Scope kTwo{.name = "two", .what = "", .actions = kFew, .users = 2};
  Explorer whole{EveryName(kTwo)};
  whole.Explore();
  Explorer reduced{EngineModel(kTwo)};
  reduced.Explore();
  const EngineModel model(kTwo);
  // By the canonical state before, the action under its names, and the canonical state after.
  using Edge = std::tuple<uint32_t, std::string, uint32_t>;
  std::set<Edge> found, all;
  for (uint32_t at = 0; at < reduced.expanded(); ++at) {
    for (size_t i = reduced.Begin(at); i < reduced.End(at); ++i) {
      found.emplace(at, Text(reduced.At(i).action), reduced.At(i).to);
    }
  }
  for (uint32_t at = 0; at < whole.expanded(); ++at) {
    Names names;
    const auto before = reduced.Find(model.Canonical(whole.states()[at], &names));
    ASSERT_TRUE(before);
    for (size_t i = whole.Begin(at); i < whole.End(at); ++i) {
      const auto after = reduced.Find(model.Canonical(whole.states()[whole.At(i).to]));
      ASSERT_TRUE(after);
      all.emplace(*before, Text(model.Renamed(whole.At(i).action, names)), *after);
    }
  }
  EXPECT_EQ(found, all);
  EXPECT_LT(reduced.states().size(), whole.states().size());
}

}  // namespace
}  // namespace seendb::model::SEENDB_TEST_FILE
