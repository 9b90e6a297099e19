#include "simulation/generate_clock.h"

#include <utility>

#include "simulation/dice.h"

namespace seendb::simulation {
namespace {

constexpr int64_t kHour = 3'600'000;
constexpr int64_t kDay = 24 * kHour;
// About so often in a script.
constexpr double kTimes = 4;
// Percent of the filters, so that all takes as long as with a clock that is right.
constexpr double kLeftOut = 16;

class Decorator {
 public:
  Decorator(uint64_t seed, std::vector<Operation> operations)
      : dice_(seed ^ 0x636c'6f63'6bULL), given_(std::move(operations)) {}

  std::vector<Operation> Run() {
    if (dice_.Chance(50)) return std::move(given_);
    const double percent = 100 * kTimes / static_cast<double>(given_.size() + 1);
    for (size_t i = 0; i < given_.size(); ++i) {
      const bool held = HoldsNext(given_, i);
      const bool left_out = !held && given_[i].verb == Verb::kFilter && dice_.Chance(kLeftOut);
      if (!left_out) made_.push_back(std::move(given_[i]));
      if (held || i == 0) continue;
      if (left_ > 0 && --left_ == 0) Right();
      if (left_ == 0 && dice_.Chance(percent)) Wrong();
    }
    return std::move(made_);
  }

 private:
  Operation& Add(Verb verb) {
    made_.emplace_back().verb = verb;
    return made_.back();
  }
  void Move(int64_t by_ms) { Add(Verb::kSetClock).number = by_ms; }

  int64_t Error() {
    switch (dice_.Below(4)) {
      case 0:
        return dice_.Between(1, 5);
      case 1:
        return dice_.Between(1, 30 * kHour);
      default:
        return dice_.Between(kDay, 40 * kDay);
    }
  }

  void Wrong() {
    by_ms_ = Error();
    if (dice_.Chance(35)) by_ms_ = -by_ms_;
    Move(by_ms_);
    left_ = static_cast<size_t>(dice_.Between(1, 12));
    Maintain();
  }
  // What is behind goes right by itself when time goes on, or is set.
  void Right() {
    if (dice_.Chance(8)) Again();
    if (by_ms_ < 0 && dice_.Chance(50)) return;
    Move(-by_ms_ + (dice_.Chance(30) ? dice_.Between(-3, 3) : 0));
    if (dice_.Chance(12)) Again();
    if (dice_.Chance(30)) Maintain();
  }
  void Maintain() {
    if (dice_.Chance(40)) Add(Verb::kDrain);
    if (dice_.Chance(70)) Add(dice_.Of({Verb::kDue, Verb::kDrop, Verb::kDrop, Verb::kSealClosed}));
  }
  void Again() {
    Operation& again = Add(dice_.Of({Verb::kReopen, Verb::kKill, Verb::kPowerCut}));
    if (again.verb == Verb::kPowerCut) again.number = dice_.Between(0, 1 << 30);
  }

  Dice dice_;
  std::vector<Operation> given_, made_;
  int64_t by_ms_ = 0;
  size_t left_ = 0;  // operations until it is right again; 0: it is
};

}  // namespace

void AddClock(uint64_t seed, Script* script) {
  script->operations = Decorator(seed, std::move(script->operations)).Run();
}

}  // namespace seendb::simulation
