#include "model/run/play.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "model/run/compare.h"
#include "model/run/perform.h"

namespace seendb::model {

Player::Player(const EngineModel& model, MemDisk* disk)
    : model_(model),
      world_(std::make_unique<World>(model.scope(), disk->Clone())),
      state_(model.Initial()) {
  world_->Open();
}

std::unique_ptr<Player> Player::Fork() {
  return std::unique_ptr<Player>(new Player(model_, world_->Fork(), state_));
}

std::string Player::Do(const Action& action) {
  Answer answer = Answer::kOk;
  const State before = state_;
  if (!model_.Do(action, &state_, &answer)) return "the model says that it is not possible";
  world_->Tick();
  world_->beside = [&] { return DifferenceBeside(*world_, before, state_); };
  const Performed done = Performs()[static_cast<size_t>(action.kind)].Do(*world_, action);
  if (!world_->trouble.empty()) return world_->trouble;
  std::string difference = Difference(done, answer);
  difference += Difference(*world_, state_);
  return difference;
}

std::string Play(const EngineModel& model, MemDisk* disk, std::span<const Action> script,
                 std::vector<Action>* played) {
  played->clear();
  Player player(model, disk);
  for (const Action& action : script) {
    State after = player.state();
    if (!model.Do(action, &after)) continue;
    played->push_back(action);
    const std::string difference = player.Do(action);
    if (!difference.empty()) return difference;
  }
  return "";
}

// Takes away longer pieces first.
std::vector<Action> Shortened(const EngineModel& model, MemDisk* disk, std::vector<Action> script) {
  std::vector<Action> played;
  for (size_t piece = std::max<size_t>(1, script.size() / 2); piece > 0;) {
    bool shorter = false;
    for (size_t at = 0; at < script.size();) {
      std::vector<Action> less = script;
      const auto begin = less.begin() + static_cast<std::ptrdiff_t>(at);
      less.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(piece, less.size() - at)));
      if (!Play(model, disk, less, &played).empty() && played.size() < script.size()) {
        script = played;
        shorter = true;
      } else {
        at += piece;
      }
    }
    if (!shorter || piece > 1) piece /= 2;
  }
  return script;
}

std::string Text(std::span<const Action> script) {
  std::string text;
  for (const Action& action : script) text += (text.empty() ? "" : "; ") + Text(action);
  return text;
}

std::optional<std::vector<Action>> ReadScript(std::string_view text) {
  std::vector<Action> script;
  std::istringstream all{std::string(text)};
  for (std::string one; std::getline(all, one, ';');) {
    const std::optional<Action> action = ReadAction(one);
    if (!action) return {};
    script.push_back(*action);
  }
  return script;
}

}  // namespace seendb::model
