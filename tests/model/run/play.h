// tests/model/run/play.h: plays actions on a real engine and in the model, and compares them after
// each.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/run/world.h"

namespace seendb::model {

/// An engine beside the model's state.
class Player {
 public:
  /// Begins with the state Initial. `disk` is what NewDisk made for the scope.
  Player(const EngineModel& model, MemDisk* disk);

  /// Does an action in both. The difference, for people; empty: none. Precondition: it is
  /// possible. After a difference the player is of no use any more.
  std::string Do(const Action& action);
  const State& state() const { return state_; }
  /// Another one that died and did not come back yet: the first action must be of kDying.
  std::unique_ptr<Player> Fork();

 private:
  Player(const EngineModel& model, std::unique_ptr<World> world, const State& state)
      : model_(model), world_(std::move(world)), state_(state) {}

  EngineModel model_;
  std::unique_ptr<World> world_;
  State state_;
};

/// Actions by which the process dies: of a fork they cost the engine itself nothing.
inline constexpr uint64_t kForked = Of(Kind::kCrash, Kind::kPowerCut, Kind::kRepair);
inline bool IsForked(Kind kind) { return (kForked & Of(kind)) != 0; }

/// The first difference when the actions are played one after the other; empty: none. Actions that
/// are not possible are passed over. `*played`: those that were not, up to the one that differs.
std::string Play(const EngineModel& model, MemDisk* disk, std::span<const Action> script,
                 std::vector<Action>* played);

/// A script that differs too, from which no action can be taken away.
std::vector<Action> Shortened(const EngineModel& model, MemDisk* disk, std::vector<Action> script);

/// "play c0 u1 i0; rotate s0". Nothing: it is no script.
std::optional<std::vector<Action>> ReadScript(std::string_view text);
std::string Text(std::span<const Action> script);

}  // namespace seendb::model
