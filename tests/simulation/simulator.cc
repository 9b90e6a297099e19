#include "simulation/simulator.h"

#include <span>

#include "seendb/events.h"
#include "simulation/checks_days.h"
#include "simulation/upkeep.h"

namespace seendb::simulation {
namespace {

// One run.
class Simulator {
 public:
  Simulator(const Script& script, const Opener& opener, Tally* tally)
      : script_(script), world_(script, opener, tally), upkeep_(&world_) {}

  void Run(size_t* operation) {
    if (!script_.operations.empty() && script_.operations[0].verb == Verb::kClock) {
      world_.SetTime(script_.operations[0].number);
    }
    world_.Open();
    for (*operation = 0; *operation < script_.operations.size(); ++*operation) {
      const std::span<const Operation> rest = std::span(script_.operations).subspan(*operation);
      world_.Begin(rest[0]);
      if (rest[0].verb == Verb::kMiddle && InTheMiddle(rest)) {
        *operation += 2;
      } else {
        Do(rest[0]);
      }
    }
    Finish();
  }
  uint64_t digest() const { return world_.digest(); }

 private:
  Engine& engine() { return world_.engine(); }
  Model& model() { return world_.model(); }

  void Count(const Operation& operation) {
    ++world_.tally().done[static_cast<size_t>(operation.verb)];
  }

  void Do(const Operation& operation) {
    Count(operation);
    switch (operation.verb) {
      case Verb::kClock:
        Clock(operation.number);
        return;
      case Verb::kSetClock:
        if (model().now_ms == 0) return;  // it was never set
        return world_.SetTime(model().now_ms + operation.number);
      case Verb::kInspect:
        return Inspect(operation.user);
      case Verb::kMiddle:
        return;
      case Verb::kPublish:
        return Publish(operation);
      case Verb::kReopen:
        return world_.Reopen(static_cast<uint32_t>(operation.number));
      case Verb::kKill:
        return world_.Die(std::nullopt);
      case Verb::kPowerCut:
        return world_.Die(static_cast<uint64_t>(operation.number));
      case Verb::kHeal:
        return world_.HealNext(operation);
      case Verb::kFail:
      case Verb::kCrash:
      case Verb::kCut:
        return world_.Arm(operation);
      default:
        return UserCall::Is(operation.verb) ? Make(operation) : upkeep_.Do(operation, nullptr);
    }
  }

  void Clock(int64_t now_ms) {
    if (now_ms < model().now_ms) return;
    world_.tally().months += static_cast<double>(now_ms - model().now_ms) / (30.4 * 86'400'000);
    world_.SetTime(now_ms);
  }

  void Publish(const Operation& operation) {
    std::vector<Message> messages;
    for (ScriptEvent event : operation.events) {
      if (!event.at_ms) event.at_ms = model().now_ms;
      const bool dead = event.user == "-";
      messages.push_back({dead, std::move(event)});
    }
    const auto partition = static_cast<uint32_t>(operation.number);
    model().sources().Publish({operation.topic, partition}, std::move(messages));
  }

  void Make(const Operation& operation) {
    UserCall call(&world_, operation);
    call.Call();
    world_.Recover(call.Account(true));
  }

  // `operations` are "middle", what is done, and what is done in the middle of that.
  bool InTheMiddle(std::span<const Operation> operations) {
    if (operations.size() < 3 || !Upkeep::Is(operations[1].verb) ||
        !UserCall::Is(operations[2].verb) || world_.Armed()) {
      return false;
    }
    for (const Operation& one : operations.first(3)) Count(one);
    Middle middle(&world_, operations[0].number, operations[2]);
    upkeep_.Do(operations[1], &middle);
    return true;
  }

  void Inspect(const std::string& user) {
    const Result<UserReport> report = engine().Inspect(IdRef(user));
    if (!report.ok()) return world_.CheckExcused("inspect", report.status());
    CheckReport(model(), *report);
    if (!world_.ReadsFail()) CheckDays(model(), *report);
  }

  // Everything is looked at once more, before and after a last opening.
  void Finish() {
    if (world_.Stopped()) world_.Heal();
    world_.Disarm();
    world_.Reopen(0);
    const Status drained = engine().Drain();
    world_.CheckExcused("drain", drained);
    world_.Sweep(&engine(), world_.ReadsFail());
    world_.CheckExcused("verify", upkeep_.Verify());
    upkeep_.Stats();
    if (!world_.tally().WithinBudget()) {
      throw Violation("false positives beyond the budget:\n" + world_.tally().ToText());
    }
  }

  const Script& script_;
  World world_;
  Upkeep upkeep_;
};

}  // namespace

Result<std::unique_ptr<Engine>> OpenEngine(const std::string& path, const Options& options,
                                           const Seams& seams) {
  return Engine::Open(path, options, seams);
}

Outcome Simulate(const Script& script, const Opener& opener) {
  Outcome outcome;
  Simulator simulator(script, opener, &outcome.tally);
  try {
    simulator.Run(&outcome.operation);
  } catch (const Violation& violation) {
    outcome.failed = true;
    outcome.what = violation.what();
  }
  outcome.digest = simulator.digest();
  return outcome;
}

}  // namespace seendb::simulation
