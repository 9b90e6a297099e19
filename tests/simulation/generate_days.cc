#include "simulation/generate_days.h"

#include <algorithm>
#include <map>
#include <utility>

#include "seendb/events.h"
#include "simulation/calendar.h"
#include "simulation/dice.h"

namespace seendb::simulation {
namespace {

constexpr int64_t kDay = 86'400'000;
// Events of a repeated call, at most.
constexpr size_t kRepeated = 6;

class Decorator {
 public:
  Decorator(uint64_t seed, std::vector<Operation> operations)
      : dice_(seed ^ 0x6461'7973ULL), given_(std::move(operations)) {}

  std::vector<Operation> Run() {
    if (dice_.Chance(50)) return std::move(given_);
    for (size_t i = 0; i < given_.size(); ++i) {
      Operation& operation = given_[i];
      if (operation.verb == Verb::kClock) now_ms_ = std::max(now_ms_, operation.number);
      if (operation.verb == Verb::kPut) Switch(&operation);
      if (operation.verb == Verb::kPlay) Know(&operation);
      made_.push_back(operation);
      if (i == 0) Default();
      if (!HoldsNext(given_, i) && dice_.Chance(8)) Repeat();
    }
    return std::move(made_);
  }

 private:
  void Default() {
    policies_["default"] = Policy{};
    Operation& put = made_.emplace_back();
    put.verb = Verb::kPut;
    put.collection = "default";
    put.patch.first_of_day = true;
  }
  void Switch(Operation* put) {
    const auto [at, fresh] = policies_.emplace(put->collection, Policy{});
    if (fresh) at->second.utc_offset_minutes = put->patch.utc_offset_minutes.value_or(0);
    if (dice_.Chance(fresh ? 80 : 15)) put->patch.first_of_day = fresh || dice_.Chance(60);
  }
  void Know(Operation* play) {
    const Policy& policy = policies_[play->collection];
    for (ScriptEvent& event : play->events) {
      event.day.clear();
      if (dice_.Chance(65)) continue;
      event.day = DayNameAt(policy, now_ms_ - (dice_.Chance(70) ? 0 : kDay));
    }
    played_.push_back(*play);
  }
  // One of the latest calls, in part, now.
  void Repeat() {
    if (played_.empty()) return;
    Operation again =
        played_[played_.size() - 1 - dice_.Skewed(std::min<size_t>(played_.size(), 8))];
    if (again.events.size() > kRepeated) again.events.resize(kRepeated);
    for (ScriptEvent& event : again.events) event.at_ms = std::nullopt;
    Know(&again);
    made_.push_back(std::move(again));
  }

  Dice dice_;
  std::vector<Operation> given_, made_, played_;
  std::map<std::string, Policy> policies_;  // the time zones alone
  int64_t now_ms_ = 0;
};

}  // namespace

void AddDays(uint64_t seed, Script* script) {
  script->operations = Decorator(seed, std::move(script->operations)).Run();
}

}  // namespace seendb::simulation
