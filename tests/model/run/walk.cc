#include "model/run/walk.h"

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>

#include "model/run/play.h"

namespace seendb::model {
namespace {

using Graph = Explorer<EngineModel>;
constexpr size_t kNone = SIZE_MAX;
// States that are looked at for the next transition.
constexpr size_t kNear = 300;
// States of a part that follow each other.
constexpr uint32_t kBlock = 64;

// A graph's transitions that are taken, and where the others are.
class Rest {
 public:
  /// A part has whole states, in blocks: what lies near is mostly its own.
  Rest(const Graph& graph, uint32_t part, uint32_t parts)
      : graph_(graph), taken_(graph.transitions(), true), left_(graph.expanded(), 0) {
    for (uint32_t state = 0; state < left_.size(); ++state) {
      if (state / kBlock % parts != part) continue;
      left_[state] = static_cast<uint32_t>(graph.End(state) - graph.Begin(state));
      for (size_t at = graph.Begin(state); at < graph.End(state); ++at) taken_[at] = false;
    }
    into_.assign(graph.states().size(), kNone);
    for (uint32_t state = 0; state < left_.size(); ++state) {
      for (size_t at = graph.Begin(state); at < graph.End(state); ++at) {
        size_t& into = into_[graph.At(at).to];
        if (into == kNone) into = at;
      }
    }
  }

  size_t taken() const { return count_; }
  bool IsTaken(size_t transition) const { return taken_[transition]; }
  bool HasLeft(uint32_t state) const { return state < left_.size() && left_[state] > 0; }
  void Take(size_t transition) {
    if (taken_[transition]) return;
    taken_[transition] = true;
    ++count_;
    --left_[SourceOf(transition)];
  }

  uint32_t SourceOf(size_t transition) const {
    uint32_t low = 0, high = static_cast<uint32_t>(left_.size()) - 1;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (graph_.End(middle) <= transition)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  /// A shortest way from the beginning.
  std::vector<size_t> WayTo(uint32_t state) const {
    std::vector<size_t> way;
    for (; state != 0; state = SourceOf(into_[state])) way.push_back(into_[state]);
    return {way.rbegin(), way.rend()};
  }

  /// One of the state that is not taken: one that does not leave the engine's state first.
  std::optional<size_t> Untaken(uint32_t state) const {
    if (!HasLeft(state)) return {};
    std::optional<size_t> best;
    for (size_t at = graph_.Begin(state); at < graph_.End(state); ++at) {
      if (taken_[at]) continue;
      const Graph::Transition& one = graph_.At(at);
      if (one.to == state || IsForked(one.action.kind)) return at;
      if (!best || (HasLeft(one.to) && !HasLeft(graph_.At(*best).to))) best = at;
    }
    return best;
  }

  /// The way to the nearest state with transitions left, and one of them; empty: none is near.
  std::vector<size_t> Nearest(uint32_t from) const {
    std::unordered_map<uint32_t, size_t> met = {{from, kNone}};
    std::deque<uint32_t> open = {from};
    while (!open.empty() && met.size() < kNear) {
      const uint32_t state = open.front();
      open.pop_front();
      if (state >= left_.size()) continue;
      for (size_t at = graph_.Begin(state); at < graph_.End(state); ++at) {
        const uint32_t to = graph_.At(at).to;
        if (!met.emplace(to, at).second) continue;
        open.push_back(to);
        if (!HasLeft(to)) continue;
        std::vector<size_t> way;
        for (uint32_t back = to; back != from; back = SourceOf(met[back])) {
          way.push_back(met[back]);
        }
        return {way.rbegin(), way.rend()};
      }
    }
    return {};
  }

 private:
  const Graph& graph_;
  std::vector<bool> taken_;
  std::vector<uint32_t> left_;  // by state: transitions that were not taken
  std::vector<size_t> into_;    // by state: the transition by which it was met first
  size_t count_ = 0;
};

// See the head of walk.h.
class Walker {
 public:
  Walker(const Graph& graph, const WalkLimits& limits)
      : graph_(graph),
        limits_(limits),
        rest_(graph, limits.part, limits.parts),
        dice_(limits.seed * 2'654'435'761U + limits.part + 1),
        disk_(NewDisk(graph.model().scope())) {}

  Walked Run() {
    for (size_t kind = 0; kind < kKinds && Good(); ++kind) {
      const bool mine = kind % limits_.parts == limits_.part;
      if (mine && (graph_.model().scope().actions >> kind & 1) != 0) MeetKind(kind);
    }
    while (Good() && std::chrono::steady_clock::now() < limits_.end) {
      const std::optional<size_t> next = AnyUntaken();
      if (!next) break;
      WalkFrom(*next);
    }
    walked_.transitions = rest_.taken();
    return std::move(walked_);
  }

 private:
  bool Good() const { return walked_.difference.empty(); }

  // Begins at a transition of this kind; there is one unless the scope is cut off.
  void MeetKind(size_t kind) {
    if ((walked_.kinds >> kind & 1) != 0) return;
    const size_t all = graph_.transitions(), first = dice_() % all;
    for (size_t at = 0; at < all; ++at) {
      const size_t transition = (first + at) % all;
      if (static_cast<size_t>(graph_.At(transition).action.kind) != kind) continue;
      return WalkFrom(transition);
    }
  }

  // One of this part, which others leave alone.
  std::optional<size_t> AnyUntaken() {
    const size_t all = graph_.transitions(), first = dice_() % all;
    for (size_t at = 0; at < all; ++at) {
      const size_t transition = (first + at) % all;
      if (!rest_.IsTaken(transition)) return transition;
    }
    return {};
  }

  // A new engine goes to the transition, and on to what is near.
  void WalkFrom(size_t first) {
    ++walked_.engines;
    player_ = std::make_unique<Player>(graph_.model(), disk_.get());
    script_.clear();
    at_ = 0;
    for (const size_t transition : rest_.WayTo(rest_.SourceOf(first))) {
      if (!Step(transition, false)) return;
    }
    if (!Step(first, true)) return;
    while (script_.size() < limits_.steps && std::chrono::steady_clock::now() < limits_.end) {
      if (const std::optional<size_t> own = rest_.Untaken(at_)) {
        if (!Step(*own, true)) return;
        continue;
      }
      const std::vector<size_t> way = rest_.Nearest(at_);
      if (way.empty()) break;
      for (const size_t transition : way) {
        if (!Step(transition, false)) return;
      }
    }
  }

  // Does a transition of the state. A death is tried on a copy of the disk where the engine may
  // stay.
  bool Step(size_t transition, bool may_stay) {
    const Graph::Transition& one = graph_.At(transition);
    const Action action = *graph_.ActionHere(player_->state(), one.action);
    const bool forked = may_stay && IsForked(action.kind);
    last_ = transition;
    rest_.Take(transition);
    ++walked_.steps;
    walked_.kinds |= Of(action.kind);
    script_.push_back(action);
    const std::string difference = forked ? player_->Fork()->Do(action) : player_->Do(action);
    if (!difference.empty()) return Differs(difference);
    if (forked)
      script_.pop_back();
    else
      at_ = one.to;
    return true;
  }

  bool Differs(const std::string& difference) {
    walked_.difference = difference;
    player_.reset();
    const EngineModel& model = graph_.model();
    // By a shortest way, if that shows it too.
    std::vector<Action> shortest = graph_.Script(at_);
    State state = model.Initial();
    for (const Action& action : shortest) model.Do(action, &state);
    std::vector<Action> played;
    for (const std::vector<Action>& script : {WithLast(shortest, state), script_}) {
      walked_.script = script;
      walked_.shown = Play(model, disk_.get(), script, &played);
      if (walked_.shown.empty()) continue;
      walked_.script = Shortened(model, disk_.get(), played);
      walked_.shown = Play(model, disk_.get(), walked_.script, &played);
      return false;
    }
    return false;
  }

  std::vector<Action> WithLast(std::vector<Action> way, const State& state) const {
    if (last_ == kNone) return way;
    if (const auto action = graph_.ActionHere(state, graph_.At(last_).action)) {
      way.push_back(*action);
    }
    return way;
  }

  const Graph& graph_;
  const WalkLimits limits_;
  Rest rest_;
  std::mt19937_64 dice_;
  const std::unique_ptr<MemDisk> disk_;
  std::unique_ptr<Player> player_;
  std::vector<Action> script_;  // of this engine
  uint32_t at_ = 0;
  size_t last_ = kNone;
  Walked walked_;
};

}  // namespace

Walked Walk(const Explorer<EngineModel>& graph, const WalkLimits& limits) {
  return Walker(graph, limits).Run();
}

}  // namespace seendb::model
