#include "simulation/generate_ingest.h"

#include <set>
#include <utility>

#include "simulation/dice.h"
#include "support/mem_disk.h"

namespace seendb::simulation {
namespace {

// Percent of the filters, so that all takes as long as without logs.
constexpr double kLeftOut = 12;

class Decorator {
 public:
  Decorator(uint64_t seed, std::vector<Operation> operations)
      : dice_(seed ^ 0x696e'6765'7374ULL), given_(std::move(operations)) {}

  std::vector<Operation> Run() {
    if (dice_.Chance(50)) return std::move(given_);
    for (size_t i = 0; i < given_.size(); ++i) {
      Operation& operation = given_[i];
      const bool held = HoldsNext(given_, i);
      if (held && operation.verb == Verb::kMiddle && i + 2 < given_.size()) {
        Middle(i);
        i += 2;
      } else if (!held && IsEvents(operation) && dice_.Chance(35)) {
        Publish(operation);
        if (dice_.Chance(75)) Now();
      } else if (held || operation.verb != Verb::kFilter || !dice_.Chance(kLeftOut)) {
        const bool ends = operation.verb == Verb::kKill || operation.verb == Verb::kPowerCut ||
                          operation.verb == Verb::kReopen;
        made_.push_back(std::move(operation));
        if (!held && ends && dice_.Chance(60)) Ingest(dice_.Chance(30));
        if (!held && dice_.Chance(1)) Ingest(true);
        if (!held && dice_.Chance(0.5)) Forget();
      }
    }
    return std::move(made_);
  }

 private:
  static bool IsEvents(const Operation& operation) {
    return operation.verb == Verb::kPlay || operation.verb == Verb::kServe;
  }

  // What is played in the middle of something is ingested in the middle of it.
  void Middle(size_t i) {
    const bool turns = given_[i + 2].verb == Verb::kPlay &&
                       given_[i + 1].verb != Verb::kCheckpoint && dice_.Chance(50);
    if (turns) Publish(given_[i + 2]);
    made_.push_back(std::move(given_[i]));
    made_.push_back(std::move(given_[i + 1]));
    if (!turns) return made_.push_back(std::move(given_[i + 2]));
    Ingest(false);
  }

  void Now() {
    const bool trouble = dice_.Chance(2.5);
    if (trouble) Trouble();
    Ingest(dice_.Chance(10));
    if (trouble) Ingest(dice_.Chance(30));
  }

  // Between what is written of a batch in one shard and in the next, or half way in one.
  void Trouble() {
    Operation& operation = made_.emplace_back();
    operation.verb = dice_.Of({Verb::kCrash, Verb::kCrash, Verb::kCut, Verb::kFail});
    operation.kinds = dice_.Of<uint32_t>({MemDisk::kAppend, MemDisk::kAppend, MemDisk::kSync});
    operation.part = "shard-000*.log";
    operation.number = dice_.Between(0, 3);
    operation.error = dice_.Of({"eio", "full", "short"});
    operation.seed = dice_.Below(1ULL << 32);
  }

  void Publish(const Operation& events) {
    topic_ = events.collection + (events.verb == Verb::kPlay ? ".p" : ".s");
    topics_.insert(topic_);
    const uint64_t partitions = dice_.Chance(60) ? 1 : 2;
    std::vector<Operation> parts(partitions);
    for (const ScriptEvent& event : events.events) {
      Operation& part = parts[dice_.Below(partitions)];
      if (dice_.Chance(4)) part.events.push_back({"-", "-", 0});  // a dead letter
      part.events.push_back(event);
    }
    for (uint64_t i = 0; i < partitions; ++i) {
      if (parts[i].events.empty()) continue;
      parts[i].verb = Verb::kPublish;
      parts[i].topic = topic_;
      parts[i].number = static_cast<int64_t>(i);
      made_.push_back(std::move(parts[i]));
    }
  }

  // Of the topic that something was published to last, or of any.
  void Ingest(bool again) {
    if (topics_.empty()) return;
    Operation& operation = made_.emplace_back();
    operation.verb = Verb::kIngest;
    operation.topic = dice_.Chance(85) ? topic_ : Any();
    if (dice_.Chance(40)) operation.filter.limit = static_cast<uint32_t>(dice_.Between(1, 30));
    if (again) operation.behind = dice_.Between(1, 60);
    operation.not_told = dice_.Chance(20);
  }
  void Forget() {
    if (topics_.empty()) return;
    Operation& operation = made_.emplace_back();
    operation.verb = Verb::kForget;
    operation.topic = Any();
    operation.number = dice_.Chance(50) ? 1 : 0;
    if (!dice_.Chance(20)) return;
    Operation& cut = made_.emplace_back();
    cut.verb = Verb::kPowerCut;
    cut.number = dice_.Between(0, 1 << 30);
  }
  std::string Any() {
    auto at = topics_.begin();
    std::advance(at, static_cast<int64_t>(dice_.Below(topics_.size())));
    return *at;
  }

  Dice dice_;
  std::vector<Operation> given_, made_;
  std::set<std::string> topics_;
  std::string topic_;
};

}  // namespace

void AddIngest(uint64_t seed, Script* script) {
  script->operations = Decorator(seed, std::move(script->operations)).Run();
}

}  // namespace seendb::simulation
