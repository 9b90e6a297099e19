// tests/model/explorer.h: visits every state of a model, breadth first.
//
//   Explorer explorer(EngineModel(scope));
//   explorer.Explore({.transitions = 2'000'000});
//   if (explorer.violation()) print(explorer.Script(explorer.violation()->state));
//
// A model is a class with the types State (plain bytes, no padding), Action and Names, and the
// functions Initial(), ForEach(state, visit(action, after)), Do(action, &state), Violated(state),
// Canonical(state, &names) and Renamed(action, names): a renaming is its own inverse. One
// of the states that differ in names alone is kept: Canonical. Every action of it is a transition,
// also those that lead to the same state.
//
// Breadth first: the way by which a state was met first is a shortest one. States are numbered in
// that order; 0 is the first.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace seendb::model {

/// The most that an exploration may cost.
struct Limits {
  size_t transitions = SIZE_MAX;
};

/// Hashes plain bytes (FNV-1a by words, with a final mix).
inline uint64_t HashOf(const void* bytes, size_t size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  uint64_t hash = 14'695'981'039'346'656'037ULL;
  for (; size >= 8; size -= 8, at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 1'099'511'628'211ULL;
    hash ^= hash >> 32;
  }
  for (; size > 0; --size, ++at) hash = (hash ^ *at) * 1'099'511'628'211ULL;
  hash ^= hash >> 29;
  return hash * 0xbf58476d1ce4e5b9ULL >> 7;
}

/// See the head of this file.
template <typename Model>
class Explorer {
 public:
  using State = typename Model::State;
  using Action = typename Model::Action;
  static_assert(std::has_unique_object_representations_v<State>);

  struct Transition {
    Action action;
    uint32_t to;
  };
  struct Violation {
    std::string_view invariant;
    uint32_t state;
  };

  explicit Explorer(Model model) : model_(std::move(model)) {}

  /// Until everything is visited, a limit is reached or an invariant is violated.
  void Explore(const Limits& limits = {}) {
    Add(model_.Canonical(model_.Initial()), 0, {});
    for (uint32_t at = 0; at < states_.size() && !violation_; ++at) {
      if (transitions_.size() >= limits.transitions) return;
      const State state = states_[at];  // states_ grows
      model_.ForEach(state, [&](const Action& action, const State& after) {
        const uint32_t to = Add(model_.Canonical(after), at, action);
        transitions_.push_back({action, to});
      });
      ends_.push_back(transitions_.size());
    }
    whole_ = !violation_;
  }

  const Model& model() const { return model_; }
  /// Whether everything was visited.
  bool whole() const { return whole_; }
  const std::vector<State>& states() const { return states_; }
  size_t transitions() const { return transitions_.size(); }
  const std::optional<Violation>& violation() const { return violation_; }
  /// States whose transitions are known: the first ones.
  size_t expanded() const { return ends_.size(); }
  /// Transitions of a state are numbered from `Begin` to before `End`.
  size_t Begin(uint32_t state) const { return state == 0 ? 0 : ends_[state - 1]; }
  size_t End(uint32_t state) const { return ends_[state]; }
  const Transition& At(size_t transition) const { return transitions_[transition]; }

  /// The number of a canonical state; nothing where it was not visited.
  std::optional<uint32_t> Find(const State& canonical) const {
    if (table_.empty()) return {};
    const uint32_t found = table_[SlotOf(canonical)];
    return found == 0 ? std::nullopt : std::optional(found - 1);
  }

  /// A shortest way to a state, as one engine does it: names stay what they are.
  std::vector<Action> Script(uint32_t state) const {
    std::vector<Action> way;
    for (uint32_t at = state; at != 0; at = parents_[at].first) way.push_back(parents_[at].second);
    State now = model_.Initial();
    std::vector<Action> script;
    for (auto action = way.rbegin(); action != way.rend(); ++action) {
      script.push_back(*ActionHere(now, *action));
      model_.Do(script.back(), &now);
    }
    return script;
  }

  /// The action that is, in a state of any names, what `action` is in the canonical one. Nothing
  /// where it is not possible.
  std::optional<Action> ActionHere(const State& state, const Action& action) const {
    typename Model::Names names;
    model_.Canonical(state, &names);
    const Action here = model_.Renamed(action, names);
    State after = state;
    return model_.Do(here, &after) ? std::optional(here) : std::nullopt;
  }

 private:
  size_t SlotOf(const State& state) const {
    const size_t mask = table_.size() - 1;
    size_t slot = HashOf(&state, sizeof state) & mask;
    while (table_[slot] != 0 &&
           std::memcmp(&states_[table_[slot] - 1], &state, sizeof state) != 0) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  uint32_t Add(const State& state, uint32_t parent, const Action& action) {
    if (states_.size() * 2 >= table_.size()) Grow();
    const size_t slot = SlotOf(state);
    if (table_[slot] != 0) return table_[slot] - 1;
    states_.push_back(state);
    parents_.emplace_back(parent, action);
    const auto number = static_cast<uint32_t>(states_.size() - 1);
    table_[slot] = number + 1;
    const std::string_view violated = model_.Violated(state);
    if (!violated.empty() && !violation_) violation_ = Violation{violated, number};
    return number;
  }

  void Grow() {
    table_.assign(std::max<size_t>(1024, table_.size() * 2), 0);
    for (uint32_t number = 0; number < states_.size(); ++number) {
      table_[SlotOf(states_[number])] = number + 1;
    }
  }

  Model model_;
  std::vector<State> states_;
  std::vector<std::pair<uint32_t, Action>> parents_;  // the way by which it was met first
  std::vector<uint32_t> table_;                       // hash: 1 + the number of a state
  std::vector<Transition> transitions_;               // by state
  std::vector<size_t> ends_;                          // by state: where its transitions end
  std::optional<Violation> violation_;
  bool whole_ = false;
};

}  // namespace seendb::model
