// Does actions in the model, one by one, and tells what came of each: for comparisons with another
// text of the same model (quint/check.py).
//
//   follow SCOPE < actions        # one a line, as in a script of `walk`
//
// For the state before the first action, and after each, one line of JSON: the answer, which
// actions are possible, the ring of shard 0, and which users' plays its disk has and its callers
// are owed. Ends with 1 at an action that is not possible.

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include "model/action.h"

namespace seendb::model {
namespace {

using std::to_string;

template <typename Each>
std::string List(int count, const Each& each) {
  std::string text;
  for (int at = 0; at < count; ++at) {
    const std::string one = each(at);
    if (!one.empty()) text += (text.empty() ? "" : ", ") + one;
  }
  return "[" + text + "]";
}

std::string UsersOf(const Scope& scope, Facts facts) {
  return List(scope.users, [&](int user) {
    return (facts & OfUser(user)) != 0 ? to_string(user) : std::string();
  });
}

std::string DiskText(const Scope& scope, const Disk& disk) {
  const auto plays = [&](int slot) { return UsersOf(scope, disk.journal[slot]); };
  const auto used = [&](int slot) {
    return (disk.records >> slot & 1) != 0 ? to_string(slot) : std::string();
  };
  const auto known = [&](int user) {
    return disk.record[user] != 0 ? to_string(user) : std::string();
  };
  return "{\"journal\": " + List(scope.slots, plays) + ", \"used\": " + List(scope.slots, used) +
         ", \"merged\": " + UsersOf(scope, disk.merged) +
         ", \"known\": " + List(scope.users, known) + "}";
}

void Tell(const EngineModel& model, const State& state, const char* answer) {
  static constexpr const char* kPhases[] = {"free", "current", "closed", "draining", "drained"};
  const Scope& scope = model.scope();
  const Shard& shard = state.shards[0];
  std::string possible;
  model.ForEach(state, [&](const Action& action, const State&) {
    possible += (possible.empty() ? "\"" : ", \"") + Text(action) + "\"";
  });
  const auto phase = [&](int slot) {
    return "\"" + std::string(kPhases[static_cast<size_t>(shard.phase[slot])]) + "\"";
  };
  const auto order = [&](int slot) { return to_string(shard.order[slot]); };
  std::cout << "{\"answer\": \"" << answer << "\", \"possible\": [" << possible
            << "], \"phase\": " << List(scope.slots, phase)
            << ", \"order\": " << List(scope.slots, order)
            << ", \"turn\": " << to_string(shard.turn)
            << ", \"unsynced\": " << to_string(shard.unsynced)
            << ", \"disk\": " << DiskText(scope, shard.disk)
            << ", \"safe\": " << DiskText(scope, shard.safe)
            << ", \"owed\": " << UsersOf(scope, shard.promise.played)
            << ", \"owedSafe\": " << UsersOf(scope, shard.promise_safe.played) << "}\n";
}

int Follow(const Scope& scope) {
  const EngineModel model(scope);
  State state = model.Initial();
  Tell(model, state, "");
  for (std::string line; std::getline(std::cin, line);) {
    const std::optional<Action> action = ReadAction(line);
    Answer answer = Answer::kOk;
    if (!action || !model.Do(*action, &state, &answer)) {
      std::fprintf(stderr, "follow: not possible: %s\n", line.c_str());
      return 1;
    }
    Tell(model, state, NameOf(answer));
  }
  return 0;
}

}  // namespace
}  // namespace seendb::model

int main(int argc, char** argv) {
  const seendb::model::Scope* const scope = argc == 2 ? seendb::model::FindScope(argv[1]) : nullptr;
  if (scope != nullptr) return seendb::model::Follow(*scope);
  std::fprintf(stderr, "follow: wants a scope\n");
  return 2;
}
