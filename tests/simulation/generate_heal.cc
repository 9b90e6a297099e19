#include "simulation/generate_heal.h"

#include <utility>

#include "simulation/dice.h"
#include "support/mem_disk.h"

namespace seendb::simulation {
namespace {

// About so often in a script.
constexpr double kTimes = 1.5;

class Decorator {
 public:
  Decorator(uint64_t seed, uint32_t shards, std::vector<Operation> operations)
      : dice_(seed ^ 0x6865'616cULL), shards_(shards), given_(std::move(operations)) {}

  std::vector<Operation> Run() {
    const bool more = dice_.Chance(50);
    const double percent = 100 * kTimes / static_cast<double>(given_.size() + 1);
    for (size_t i = 0; i < given_.size(); ++i) {
      const bool held = HoldsNext(given_, i);
      const bool fails = given_[i].verb == Verb::kFail && IsOfShard(given_[i]);
      made_.push_back(std::move(given_[i]));
      if (held || i == 0) continue;
      if (fails && dice_.Chance(50)) Heal();
      if (more && dice_.Chance(percent)) Fail();
    }
    return std::move(made_);
  }

 private:
  static bool IsOfShard(const Operation& operation) {
    return operation.part.starts_with("shard-") && (operation.kinds & MemDisk::kReading) == 0;
  }
  void Fail() {
    Operation& operation = made_.emplace_back();
    operation.verb = Verb::kFail;
    operation.kinds = dice_.Of<uint32_t>({MemDisk::kAppend, MemDisk::kAppend, MemDisk::kSync});
    operation.part = "shard-000" + std::to_string(dice_.Below(shards_)) + "*.log";
    operation.number = dice_.Between(0, operation.kinds == MemDisk::kSync ? 1 : 6);
    operation.error = dice_.Of({"eio", "full", "short"});
    Heal();
  }
  void Heal() {
    Operation& operation = made_.emplace_back();
    operation.verb = Verb::kHeal;
    operation.number = dice_.Between(0, 12);
    if (dice_.Chance(40)) operation.seed = 1 + dice_.Below(1ULL << 32);
  }

  Dice dice_;
  const uint32_t shards_;
  std::vector<Operation> given_, made_;
};

}  // namespace

void AddHeal(uint64_t seed, Script* script) {
  script->operations = Decorator(seed, script->options.shards, std::move(script->operations)).Run();
}

}  // namespace seendb::simulation
