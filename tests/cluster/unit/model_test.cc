// Models of a cluster: each sentence that they keep can be broken, and is found
// (tests/model/cluster).

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/cluster/lead_world.h"
#include "model/cluster/log_world.h"
#include "model/cluster/move_world.h"
#include "model/explorer.h"

namespace seendb::cluster_model::SEENDB_TEST_FILE {
namespace {

using Script = std::vector<std::string>;

/// The first sentence that does not hold, and a shortest way there.
struct Found {
  std::string sentence;
  Script script;
};

const Scope& Named(const std::vector<Scope>& scopes, std::string_view name) {
  return *std::find_if(scopes.begin(), scopes.end(),
                       [&](const Scope& scope) { return scope.name == name; });
}

/// Explores a scope in which one action goes by another rule.
template <typename W>
Found FindWith(const std::vector<Scope>& scopes, std::string_view scope, std::string_view action,
               bool (*rule)(const Bounds&, const Action&, typename W::State*)) {
  Table<typename W::State> table = W::Rows();
  for (auto& row : table) {
    if (row.name == action) row.Do = rule;
  }
  model::Explorer explorer{TableModel<W>(Named(scopes, scope), table)};
  explorer.Explore({.transitions = 3'000'000});
  if (!explorer.violation()) return {};
  Found found{std::string(explorer.violation()->invariant), {}};
  for (const Action& one : explorer.Script(explorer.violation()->state)) {
    found.script.push_back(explorer.model().Text(one));
  }
  return found;
}

template <typename W>
void ExpectEveryActionPossible(const std::vector<Scope>& scopes) {
  std::set<std::string_view> all, done;
  for (const auto& row : W::Rows()) all.insert(row.name);
  for (const Scope& scope : scopes) {
    if (scope.name.ends_with("-large")) continue;
    model::Explorer explorer{TableModel<W>(scope)};
    explorer.Explore({.transitions = 60'000});
    EXPECT_FALSE(explorer.violation()) << scope.name << ": " << explorer.violation()->invariant;
    for (size_t at = 0; at < explorer.transitions(); ++at) {
      done.insert(W::Rows()[explorer.At(at).action.row].name);
    }
    for (const std::string_view action : scope.actions) EXPECT_TRUE(all.contains(action)) << action;
  }
  EXPECT_EQ(done, all);
}

TEST(ClusterModel, EveryActionIsPossibleAndNothingIsViolated) {
  ExpectEveryActionPossible<LogWorld>(LogScopes());
  ExpectEveryActionPossible<MoveWorld>(MoveScopes());
  ExpectEveryActionPossible<LeadWorld>(LeadScopes());
}

// ---- Each invariant can fail: a rule is broken, and found ----

TEST(ClusterModel, FindsACopyThatIsLessThanWhatItReplaces) {
  const Found found = FindWith<LogWorld>(
      LogScopes(), "head", "copy", [](const Bounds&, const Action& action, LogState* state) {
        Replica& to = state->replicas[action.node][action.shard];
        const Replica& from = state->replicas[action.other][action.shard];
        if (to.held == 0 || from.held == 0) return false;
        to = from;
        return true;
      });
  EXPECT_EQ(found.sentence, "What was acknowledged is not lost with any node");
  EXPECT_EQ(found.script.size(), 5U);  // append, apply, sync, lose-head, copy
}

TEST(ClusterModel, FindsAVerdictThatIsNotTheRecords) {
  const Found found = FindWith<LogWorld>(
      LogScopes(), "erasure", "apply", [](const Bounds&, const Action& action, LogState* state) {
        Replica& replica = state->replicas[action.node][action.shard];
        const int offset = replica.now.next;
        if (replica.held == 0 || offset >= state->count[action.shard]) return false;
        const Record& record = state->log[action.shard][offset];
        ApplyRecord(record, MetaOf(*state, 0), &replica.now);
        ++replica.now.next;
        if (record.write == 1 + kErase) return true;
        state->acked[action.shard] |= static_cast<uint8_t>(1 << offset);
        state->taken[action.shard] |= static_cast<uint8_t>(1 << offset);
        return true;
      });
  EXPECT_EQ(found.sentence,
            "A request that sends SeenDB-Position back sees that write at any replica");
  EXPECT_EQ(found.script.size(), 4U);  // an erasure and an earlier play are appended, and applied
}

TEST(ClusterModel, FindsALogThatIsReadOver) {
  const Found found = FindWith<LogWorld>(
      LogScopes(), "head", "notice", [](const Bounds&, const Action& action, LogState* state) {
        Content& content = state->replicas[action.node][action.shard].now;
        if (content.next >= state->begin[action.shard]) return false;
        content.next = state->begin[action.shard];
        return true;
      });
  EXPECT_EQ(found.sentence, "A replica is a function of the log: replicas at one offset are equal");
  EXPECT_EQ(found.script.back().substr(0, 6), "notice");
  EXPECT_EQ(found.script.size(), 5U);  // append, apply, sync, lose-head, notice
}

TEST(ClusterModel, FindsACopyOfANodeThatHasReadMore) {
  const Found found = FindWith<LogWorld>(
      LogScopes(), "copied", "copy", [](const Bounds&, const Action& action, LogState* state) {
        const Replica& to = state->replicas[action.node][action.shard];
        const Replica& from = state->replicas[action.other][action.shard];
        const int both = 1 << action.node | 1 << action.other;
        if (to.held != 0 || from.held == 0 || (state->up & both) != both) return false;
        TakeCopy(action, state);
        return true;
      });
  EXPECT_EQ(found.sentence, "A replica is a function of the log: replicas at one offset are equal");
  // append, make-again, read-meta, lose-disk, start, copy, apply
  EXPECT_EQ(found.script.size(), 7U);
}

TEST(ClusterModel, FindsAWriterThatDoesNotAskForTheVersion) {
  const Found found = FindWith<LogWorld>(
      LogScopes(), "versions", "append",
      [](const Bounds& bounds, const Action& action, LogState* state) {
        uint8_t& count = state->count[action.shard];
        if (count >= bounds.records) return false;
        state->log[action.shard][count++] = {static_cast<uint8_t>(action.what + 1), 0};
        return true;
      });
  EXPECT_EQ(found.sentence, "No node meets a record that its software can't read");
  EXPECT_EQ(found.script.size(), 2U);
}

TEST(ClusterModel, FindsTwoPlacementsThatBothCount) {
  const Found found = FindWith<MoveWorld>(
      MoveScopes(), "moves", "write", [](const Bounds&, const Action& action, MoveState* state) {
        if (action.what != 1 || state->drafts[1] == 0) return false;
        const int at = state->written++;
        state->changes[at] =
            std::exchange(state->drafts[1], std::exchange(state->drafts[0], Change{0}));
        state->told = static_cast<uint8_t>(state->told | 1 << at);
        return true;
      });
  EXPECT_EQ(found.sentence,
            "Of two placements that are written at once, the first in the topic counts");
  EXPECT_EQ(found.script.size(), 4U);  // two are proposed, then written
}

TEST(ClusterModel, FindsAShardThatBeginsEmptyUnasked) {
  const Found found =
      FindWith<MoveWorld>(MoveScopes(), "empty", "begin-empty",
                          [](const Bounds&, const Action& action, MoveState* state) {
                            if (state->opening != 0 || state->replica[action.node] != kNone)
                              return false;
                            for (const uint8_t origin : state->origin)
                              state->began_beside |= origin == kOfOld;
                            state->origin[action.node] = kBegunEmpty;
                            state->replica[action.node] = kCatchingUp;
                            return true;
                          });
  EXPECT_EQ(found.sentence, "A node begins a shard empty only where no node has it");
  EXPECT_EQ(found.script, Script{"begin-empty n2"});
}

bool DropsAtOnce(const Bounds&, const Action& action, MoveState* state) {
  if (state->replica[action.node] == kNone) return false;
  state->replica[action.node] = kNone;
  state->origin[action.node] = kNowhere;
  return true;
}

TEST(ClusterModel, FindsTheLastCopyDropped) {
  const Found found = FindWith<MoveWorld>(MoveScopes(), "moves", "drop", DropsAtOnce);
  EXPECT_EQ(found.sentence, "A move never takes the last copy");
  EXPECT_EQ(found.script, (Script{"drop n0", "drop n1"}));
}

TEST(ClusterModel, FindsADropWhileTheOthersCatchUp) {
  const Found found = FindWith<MoveWorld>(
      MoveScopes(), "moves", "drop",
      [](const Bounds& bounds, const Action& action, MoveState* state) {
        const auto copies = std::count(state->origin, state->origin + kNodes, uint8_t{kOfOld});
        return copies > 1 && DropsAtOnce(bounds, action, state);
      });
  EXPECT_EQ(found.sentence,
            "A node serves on until all that are to have the shard have been serving");
}

TEST(ClusterModel, FindsALeaderWithoutATick) {
  const Found found = FindWith<LeadWorld>(
      LeadScopes(), "lead", "ask", [](const Bounds&, const Action& action, LeadState* state) {
        return Ask(
            action, [](bool, bool, bool) { return false; }, state);
      });
  EXPECT_EQ(
      found.sentence,
      "What was acknowledged is seen by the next question at any node while the nodes agree on "
      "the primary");
  EXPECT_EQ(found.script, (Script{"write n0", "apply n0", "crash n0", "ask n1"}));
}

TEST(ClusterModel, WhoIsCutOffLeadsOnlyWhereAllAre) {
  LeadState state = LeadWorld::Initial({});
  EXPECT_TRUE(MayLead(state, 2, 0));
  state.views[2][0].cut_off = 1;
  EXPECT_FALSE(MayLead(state, 2, 0));
  EXPECT_TRUE(MayLead(state, 2, 1));
  state.views[2][1].cut_off = 1;
  EXPECT_TRUE(MayLead(state, 2, 0));
}

// ---- Symmetry ----

// An action under other names leads to the same state under them.
TEST(ClusterModel, RenamingCommutesWithEveryAction) {
  for (const Scope& scope : LogScopes()) {
    const LogModel model(scope);
    model::Explorer explorer{model};
    explorer.Explore({.transitions = 5'000});
    for (uint32_t at = 0; at < explorer.expanded(); ++at) {
      // By the way on which it was met, names are those of the first state.
      LogState state = model.Initial();
      for (const Action& action : explorer.Script(at)) ASSERT_TRUE(model.Do(action, &state));
      ASSERT_EQ(explorer.Find(model.Canonical(state)), at) << scope.name;
      for (size_t i = explorer.Begin(at); i < explorer.End(at); ++i) {
        const auto here = explorer.ActionHere(state, explorer.At(i).action);
        ASSERT_TRUE(here) << scope.name;
        LogState after = state;
        ASSERT_TRUE(model.Do(*here, &after));
        ASSERT_EQ(explorer.Find(model.Canonical(after)), explorer.At(i).to)
            << scope.name << " " << model.Text(*here);
      }
    }
  }
}

}  // namespace
}  // namespace seendb::cluster_model::SEENDB_TEST_FILE
