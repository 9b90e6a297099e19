// tests/model/cluster/table.h: a model as a table of actions, for the explorer (../explorer.h). One
// row and one function an action; ../README.md says how one is added.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seendb::cluster_model {

inline constexpr int kNodes = 3;    ///< most, of every world
inline constexpr int kShards = 2;   ///< likewise
inline constexpr int kRecords = 4;  ///< of a shard's log, likewise

/// Something that happens. Fields that its row does not range over are 0.
struct Action {
  uint8_t row = 0;    ///< of the table
  uint8_t node = 0;   ///< who acts
  uint8_t other = 0;  ///< another node
  uint8_t shard = 0;
  uint8_t what = 0;  ///< which write, or the like
  friend bool operator==(const Action&, const Action&) = default;
};

/// The parameters of a row; a bit set.
enum Over : uint8_t { kAlone = 0, kNode = 1, kOther = 2, kShard = 4, kWhat = 8 };

/// How large a world is: the bounds that a scope changes.
struct Bounds {
  int nodes = kNodes, shards = 1;
  int records = 2;        ///< of a shard's log, at most
  int writes = 2;         ///< different ones of a shard: see log_world.h
  int changes = 0;        ///< records of X.meta, at most
  int faults = 1;         ///< deaths, power cuts, lost disks and heads, at most
  bool has_past = false;  ///< the cluster was made from a database
  bool older = false;     ///< all nodes run older software at first
};

/// A row of the table. `Do` is guard and effect in one: it answers false, whatever it changed,
/// where the action is not possible.
template <typename State>
struct Row {
  std::string_view name;
  uint8_t over = kAlone;
  bool (*Do)(const Bounds& bounds, const Action& action, State* state) = nullptr;
};
template <typename State>
using Table = std::vector<Row<State>>;

/// A small world of a model, with the actions that concern each other.
struct Scope {
  std::string_view name, what;
  Bounds bounds;
  std::vector<std::string_view> actions;  ///< names of rows
};

/// Makes a model of a world W: a class with the types State (plain bytes) and Names, and static
/// functions Initial(bounds), Rows(), Whats(bounds), Violated(bounds, state), Canonical(bounds,
/// state, names), Renamed(action, names) and Text(bounds, state). Unlike those of ../explorer.h,
/// `names` lead from the canonical state back.
template <typename W>
class TableModel {
 public:
  using State = typename W::State;
  using Action = cluster_model::Action;
  using Names = typename W::Names;

  explicit TableModel(const Scope& scope, Table<State> table = W::Rows())
      : bounds_(scope.bounds), table_(std::move(table)) {
    for (uint8_t row = 0; row < table_.size(); ++row) {
      if (std::count(scope.actions.begin(), scope.actions.end(), table_[row].name) > 0) {
        rows_.push_back(row);
      }
    }
  }

  const Bounds& bounds() const { return bounds_; }
  State Initial() const { return W::Initial(bounds_); }
  State Canonical(const State& state, Names* names = nullptr) const {
    return W::Canonical(bounds_, state, names);
  }
  Action Renamed(const Action& action, const Names& names) const {
    return W::Renamed(action, names);
  }
  bool Do(const Action& action, State* state) const {
    return table_[action.row].Do(bounds_, action, state);
  }
  template <typename Visit>
  void ForEach(const State& state, const Visit& visit) const {
    for (const uint8_t row : rows_) {
      const auto most = [&](Over over, int count) {
        return static_cast<uint8_t>((table_[row].over & over) != 0 ? count : 1);
      };
      const uint8_t nodes = most(kNode, bounds_.nodes), others = most(kOther, bounds_.nodes);
      const uint8_t shards = most(kShard, bounds_.shards);
      const uint8_t whats = most(kWhat, W::Whats(bounds_));
      for (int at = 0; at < nodes * others * shards * whats; ++at) {
        const Action action{row, static_cast<uint8_t>(at % nodes),
                            static_cast<uint8_t>(at / nodes % others),
                            static_cast<uint8_t>(at / nodes / others % shards),
                            static_cast<uint8_t>(at / nodes / others / shards)};
        if ((table_[row].over & kOther) != 0 && action.node == action.other) continue;
        State after = state;
        if (Do(action, &after)) visit(action, after);
      }
    }
  }
  std::string_view Violated(const State& state) const { return W::Violated(bounds_, state); }
  /// "append n0 s1 w2".
  std::string Text(const Action& action) const {
    const Row<State>& row = table_[action.row];
    std::string text(row.name);
    const auto add = [&](Over over, char letter, uint8_t number) {
      if ((row.over & over) != 0) text += std::string(" ") + letter + std::to_string(number);
    };
    add(kNode, 'n', action.node);
    add(kOther, 'n', action.other);
    add(kShard, 's', action.shard);
    add(kWhat, 'w', action.what);
    return text;
  }
  std::string Text(const State& state) const { return W::Text(bounds_, state); }

 private:
  Bounds bounds_;
  Table<State> table_;
  std::vector<uint8_t> rows_;
};

}  // namespace seendb::cluster_model
