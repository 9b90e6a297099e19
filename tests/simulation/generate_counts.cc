#include "simulation/generate_counts.h"

#include "simulation/dice.h"

namespace seendb::simulation {

void AddCounts(uint64_t seed, Script* script) {
  Dice dice(seed ^ 0x636f'756e'7473ULL);
  if (dice.Chance(33)) return;
  for (Operation& operation : script->operations) {
    const bool counts = operation.verb == Verb::kServe || operation.verb == Verb::kExpose;
    if (counts && !operation.events.empty()) operation.grouped = dice.Chance(50);
  }
}

}  // namespace seendb::simulation
