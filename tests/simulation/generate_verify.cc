#include "simulation/generate_verify.h"

#include <algorithm>
#include <utility>

#include "seendb/events.h"
#include "simulation/dice.h"

namespace seendb::simulation {
namespace {

// So many items fill one block of a filter, which is the least it has.
constexpr int64_t kFill = 160;
// About so often in a script.
constexpr double kBursts = 20;

constexpr char kBlurred[] = "blurred";

// A collection whose filters are small and full.
class Blur {
 public:
  Blur(Dice* dice, std::vector<Operation> operations)
      : dice_(*dice), given_(std::move(operations)) {}

  std::vector<Operation> Run() {
    const double percent = std::min(8.0, 100 * kBursts / static_cast<double>(given_.size() + 1));
    for (size_t i = 0; i < given_.size(); ++i) {
      made_.push_back(given_[i]);
      if (i == 0) Make();
      if (!HoldsNext(given_, i) && dice_.Chance(percent)) Burst();
    }
    return std::move(made_);
  }

 private:
  Operation& Add(Verb verb) {
    Operation& operation = made_.emplace_back();
    operation.verb = verb;
    operation.collection = kBlurred;
    return operation;
  }

  void Make() {
    PolicyPatch& patch = Add(Verb::kPut).patch;
    patch.bucket = BucketSpec{BucketKind::kDays, dice_.Of<uint16_t>({3, 10, 30})};
    patch.window = static_cast<uint32_t>(dice_.Between(1, 3));
    patch.retention = *patch.window + 1;
    patch.fpr = 0.5;
    patch.max_future_ms = 3'600'000;
    patch.history.enabled = true;
    patch.history.days = 120;
  }

  void Burst() {
    const std::string user = dice_.Of({"u0", "u1", "b0", "b1"});
    Operation& play = Add(Verb::kPlay);
    for (int64_t i = dice_.Between(kFill / 2, kFill); i > 0; --i) {
      play.events.push_back({user, Item(), std::nullopt});
    }
    if (dice_.Chance(70)) Add(Verb::kDrain);
    if (dice_.Chance(40)) Add(Verb::kSeal);
    for (int64_t i = dice_.Between(1, 2); i > 0; --i) {
      Operation& filter = Add(Verb::kFilter);
      filter.user = user;
      filter.filter.explain = dice_.Chance(50);
      filter.filter.verify = dice_.Chance(80);
      for (int item = 0; item < 60; ++item) filter.filter.items.push_back(Item());
    }
  }
  std::string Item() { return "v" + std::to_string(dice_.Below(3000)); }

  Dice& dice_;
  std::vector<Operation> given_, made_;
};

}  // namespace

void AddVerify(uint64_t seed, Script* script) {
  Dice dice(seed ^ 0x7665'7269'6679ULL);
  for (Operation& operation : script->operations) {
    if (operation.verb == Verb::kFilter) operation.filter.verify = dice.Chance(50);
  }
  if (dice.Chance(33)) return;
  script->operations = Blur(&dice, std::move(script->operations)).Run();
  script->options.list_limit = std::min<uint32_t>(script->options.list_limit, 64);
}

}  // namespace seendb::simulation
