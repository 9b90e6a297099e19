// A shard that a failure stopped: it is healed in place, and the others go on until then.

#include <algorithm>
#include <string_view>
#include <utility>

#include "simulation/world.h"

namespace seendb::simulation {
namespace {

// Of "append /db/shard-0001/000012.log".
std::optional<uint32_t> ShardIn(const std::string& failure) {
  constexpr std::string_view kFolder = "/db/shard-";
  const size_t at = failure.find(kFolder);
  if (at == std::string::npos) return {};
  return static_cast<uint32_t>(std::stoul(failure.substr(at + kFolder.size(), 4)));
}

}  // namespace

// One failure in one shard: else the database is closed and opened.
bool World::StopsOne() {
  const std::optional<uint32_t> shard = ShardIn(disk_.last_failure());
  if (!heal_ || !shard || disk_.failures() != failures_at_open_ + 1) return false;
  healing_ = *std::exchange(heal_, {});
  const bool doubts = !doubted_erasures_.empty() || !doubted_forgotten_.empty() ||
                      !doubted_policies_.empty() || !doubted_pauses_.empty() ||
                      !doubted_topics_.empty();
  if (doubts) healing_.number = 0;
  Disarm();
  armed_cut_.reset();
  reads_fail_ = false;
  failures_at_open_ = disk_.failures();
  stopped_ = shard;
  counts_known_ = false;
  about_stopped_ = false;
  Sweep(engine_.get(), false);
  return true;
}

bool World::IsAboutStopped(const Operation& operation) const {
  if (operation.verb == Verb::kIngest) return true;  // it is written in all shards
  if (!operation.user.empty()) return model_.ShardOf(operation.user) == stopped_;
  return std::any_of(
      operation.events.begin(), operation.events.end(),
      [&](const ScriptEvent& event) { return model_.ShardOf(event.user) == stopped_; });
}

bool World::GoesOn(const Operation& operation) const {
  switch (operation.verb) {
    case Verb::kClock:
    case Verb::kSetClock:
    case Verb::kPublish:
    case Verb::kHeal:
    case Verb::kPlay:
    case Verb::kServe:
    case Verb::kExpose:
    case Verb::kMark:
    case Verb::kIngest:
    case Verb::kFilter:
    case Verb::kInspect:
    case Verb::kLookup:
    case Verb::kHistory:
    case Verb::kMore:
      return true;
    case Verb::kErase:
    case Verb::kUnmark:
    case Verb::kDelete:
    case Verb::kClear:
    case Verb::kPause:
    case Verb::kResume:
      return !IsAboutStopped(operation);
    default:
      return false;
  }
}

void World::Begin(const Operation& operation) {
  if (!stopped_) return;
  const bool ends = operation.verb == Verb::kReopen || operation.verb == Verb::kKill ||
                    operation.verb == Verb::kPowerCut;
  about_stopped_ = ends || IsAboutStopped(operation);
  if (ends) return;
  if (healing_.number-- <= 0 || !GoesOn(operation)) return Heal();
  ++tally_->beside;
}

void World::Heal() {
  const uint32_t shard = *stopped_;
  about_stopped_ = false;
  const bool due = healing_.number % 2 != 0;
  const Status healed = due ? engine_->RunDue() : engine_->Drain();
  if (due) model_.Maintain();
  if (!healed.ok()) {
    throw Violation("shard " + std::to_string(shard) + " is not healed: " + healed.ToString());
  }
  ++tally_->healed;
  stopped_.reset();
  if (healing_.seed != 0) {
    model_.Synced(shard);
    return Die(healing_.seed);
  }
  CheckExcused("sync", engine_->Sync());
  in_place_ = true;
  Settle();
  in_place_ = false;
  model_.AllSynced();
  Sweep(engine_.get(), ReadsFail());
}

}  // namespace seendb::simulation
