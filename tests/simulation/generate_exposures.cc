#include "simulation/generate_exposures.h"

#include <utility>
#include <vector>

#include "simulation/dice.h"

namespace seendb::simulation {
namespace {

constexpr int64_t kHourMs = 3'600'000;

void Ask(Dice* dice, ScriptFilter* filter) {
  filter->exposed_ms = dice->Of<int64_t>(
      {0, 0, 1, kHourMs, 24 * kHourMs, 7 * 24 * kHourMs, 30 * 24 * kHourMs, 400 * 24 * kHourMs});
  if (dice->Chance(40)) filter->surface = dice->Of({"home", "search"});
}

}  // namespace

void AddExposures(uint64_t seed, Script* script) {
  Dice dice(seed ^ 0x6578'706f'7365ULL);
  if (dice.Chance(33)) return;
  const std::vector<Operation> given = std::exchange(script->operations, {});
  std::vector<Operation>& made = script->operations;
  for (size_t i = 0; i < given.size(); ++i) {
    Operation& operation = made.emplace_back(given[i]);
    if (operation.verb == Verb::kPut) {
      PolicyPatch& patch = operation.patch;
      if (dice.Chance(40)) patch.exposures.recent = dice.Of<uint32_t>({1, 3, 10, 30, 1000});
      if (dice.Chance(40)) patch.exposed_is_seen = dice.Chance(60);
    }
    if (operation.verb == Verb::kFilter && dice.Chance(50)) Ask(&dice, &operation.filter);
    if (HoldsNext(given, i) || operation.events.empty() || operation.collection.empty()) continue;
    if (!dice.Chance(operation.verb == Verb::kServe ? 70 : 15)) continue;
    Operation exposed = operation;
    exposed.verb = Verb::kExpose;
    if (dice.Chance(60)) exposed.surface = dice.Of({"home", "search"});
    for (ScriptEvent& event : exposed.events) {
      event.watch.reset();
      event.day.clear();
    }
    made.push_back(std::move(exposed));
  }
}

}  // namespace seendb::simulation
