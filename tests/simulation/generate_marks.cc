#include "simulation/generate_marks.h"

#include <utility>
#include <vector>

#include "simulation/dice.h"

namespace seendb::simulation {
namespace {

Operation MarkOf(Dice* dice, const std::string& user) {
  Operation mark;
  mark.verb = dice->Chance(80) ? Verb::kMark : Verb::kUnmark;
  mark.user = user;
  mark.surface = "g" + std::to_string(dice->Below(5));
  if (mark.verb == Verb::kUnmark) return mark;
  mark.number = dice->Chance(10) ? -1 : dice->Between(0, 100);
  mark.behind = dice->Of<int64_t>({0, 0, 0, 1, 60'000, 86'400'000, 40 * int64_t{86'400'000}});
  return mark;
}

}  // namespace

void AddMarks(uint64_t seed, Script* script) {
  Dice dice(seed ^ 0x6d61'726b'73ULL);
  if (dice.Chance(50)) return;
  const std::vector<Operation> given = std::exchange(script->operations, {});
  std::vector<Operation>& made = script->operations;
  for (size_t i = 0; i < given.size(); ++i) {
    Operation& operation = made.emplace_back(given[i]);
    if (operation.verb == Verb::kFilter && dice.Chance(60)) operation.filter.marks = true;
    const std::string user = !operation.user.empty()    ? operation.user
                             : operation.events.empty() ? ""
                                                        : operation.events.front().user;
    if (HoldsNext(given, i) || user.empty() || user == "-" || !dice.Chance(20)) continue;
    made.push_back(MarkOf(&dice, user));
  }
}

}  // namespace seendb::simulation
