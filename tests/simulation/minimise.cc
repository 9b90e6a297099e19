#include "simulation/minimise.h"

#include <algorithm>
#include <chrono>

namespace seendb::simulation {
namespace {

using Steady = std::chrono::steady_clock;

class Minimiser {
 public:
  Minimiser(const Script& script, const Opener& opener, double seconds)
      : script_(script),
        opener_(opener),
        end_(Steady::now() +
             std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(seconds))) {
  }

  Script Run() {
    const Outcome outcome = Simulate(script_, opener_);
    if (!outcome.failed) return script_;  // not to be repeated: leave it whole
    Cut(outcome.operation);
    Reduce(&script_.operations);
    for (size_t i = 0; i < script_.operations.size(); ++i) {
      Reduce(&script_.operations[i].events);
      if (script_.operations[i].filter.items.size() > 1) {
        Reduce(&script_.operations[i].filter.items);
      }
    }
    Reduce(&script_.operations);
    return script_;
  }

 private:
  // A slow machine makes it a little smaller, too.
  bool Late() const { return smaller_ && Steady::now() > end_; }

  // What comes after the failure is of no matter; but what is done in a middle belongs to it.
  void Cut(size_t operation) {
    if (operation >= script_.operations.size()) return;
    if (script_.operations[operation].verb == Verb::kMiddle) operation += 2;
    if (operation + 1 < script_.operations.size()) script_.operations.resize(operation + 1);
  }

  // Leaves out runs of `list`, half of it at first, then smaller ones. `list` is part of script_.
  template <typename T>
  void Reduce(std::vector<T>* list) {
    for (size_t run = std::max<size_t>(list->size() / 2, 1); !Late(); run /= 2) {
      for (size_t at = 0; at < list->size() && !Late();) {
        std::vector<T> before = *list;
        const auto begin = list->begin() + static_cast<int64_t>(at);
        list->erase(begin, begin + static_cast<int64_t>(std::min(run, list->size() - at)));
        if (Simulate(script_, opener_).failed) {
          smaller_ = true;
          continue;
        }
        *list = std::move(before);
        at += run;
      }
      if (run <= 1) break;
    }
  }

  Script script_;
  const Opener& opener_;
  const Steady::time_point end_;
  bool smaller_ = false;
};

}  // namespace

Script Minimise(const Script& script, const Opener& opener, double seconds) {
  return Minimiser(script, opener, seconds).Run();
}

}  // namespace seendb::simulation
